// An app that imports the extras also needs CoreBluetooth, which they extend.
@_exported public import CoreBluetooth
