"""What each clause must have, as functions of one clause: the command of authors asks them, and the tests of all."""
