"""An app that is connected and wants its user to know when that is lost: sleeper.py SOCKET NAME

Says "connected", and does nothing from then on until it is ended.
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
