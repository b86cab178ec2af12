// Whoever uses the extras uses what they extend.
@_exported public import CoreBluetooth
