import BLEHost
