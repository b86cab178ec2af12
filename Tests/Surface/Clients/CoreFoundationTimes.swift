import CoreBluetooth
import CoreFoundation

/// Imports the module that has some of the same names, which is no reason not to know which of them is meant.
struct Stopwatch {
    private let started: CFAbsoluteTime = CFAbsoluteTimeGetCurrent()

    var elapsed: CFTimeInterval { CFAbsoluteTimeGetCurrent() - started }
}
