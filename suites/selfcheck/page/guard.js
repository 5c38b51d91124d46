// Put before the scripts of a page: notes whatever runs that is not of the page, and finds what may not be in it.
window.guard = (() => {
  const hits = [];
  Object.defineProperty(window, "hit", { get: () => () => hits.push("hit called"), set: () => hits.push("hit set") });
  for (const name of ["alert", "confirm", "prompt", "open", "fetch"]) window[name] = () => hits.push(name);
  addEventListener("securitypolicyviolation", (event) => hits.push(`${event.effectiveDirective} ${event.blockedURI}`));
  const risky =
    "script,style,link,meta,base,iframe,frame,object,embed,img,image,video,audio,source,template,form,math,use,a[ping]";
  const nameOf = (each) => [each.localName, ...[...each.attributes].map((one) => one.name).sort()].join(" ");
  const isWrong = ({ name, value }) =>
    name.startsWith("on") || name === "srcdoc" || (name === "style" && /url|image|src|\\/i.test(value)) ||
    (/^(href|src|action|formaction|data|xlink:href)$/.test(name) &&
      !/^(#|https:\/\/[\w.-]+\/|data:image\/svg\+xml,%3Csvg%20)/.test(value));
  return {
    hits,
    /** Return the elements that could run or fetch something; they are the same on every page. */
    risky: (within) => [...within.querySelectorAll(risky)].map(nameOf),
    /** Return the attributes that run something, or lead elsewhere. */
    wrong: (within) => [...within.querySelectorAll("*")].flatMap((each) =>
      [...each.attributes].filter(isWrong).map((one) => `${each.localName} ${one.name}="${one.value.slice(0, 60)}"`)),
    /** Open all that opens, and draw what is drawn only then. */
    open: (within) => {
      for (let depth = 0; depth < 3; depth++) {
        for (const each of within.querySelectorAll("details:not([data-drawn])")) {
          each.dataset.drawn = "1";
          each.open = true;
          each.dispatchEvent(new Event("toggle"));
        }
      }
    },
  };
})();
