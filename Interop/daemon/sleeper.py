"""An app with an alert for the loss of its connection: sleeper.py SOCKET NAME

Prints "connected", and then does nothing until it is ended.
"""

import sys
import time

from app import POWERED_ON, STATE_CHANGED, App

DISCONNECTION = 2
path, name = sys.argv[1:]
app = App(path)
app.greet()
app.event(STATE_CHANGED, POWERED_ON)
app.connect(app.find(name), alerts=DISCONNECTION)
print("connected", flush=True)
time.sleep(600)
