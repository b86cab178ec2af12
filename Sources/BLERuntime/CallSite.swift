import Runtime

/// A line of an app, as the debug information names it.
package struct CallSite: Hashable, Sendable, CustomStringConvertible {
    package var file: String
    package var line: Int

    package init(file: String, line: Int) {
        self.file = file
        self.line = line
    }

    package var description: String { "\(file):\(line)" }

    /// How many frames are looked at.
    private static let depth = 48

    /// What the mangled names of modules begin with whose lines are not the app's.
    private static let passed = [
        "$s13CoreBluetooth", "$s19CoreBluetoothExtras", "$s10BLERuntime", "$s13BLESimulation", "$s7BLEHost",
        "$s8Dispatch", "$s10Foundation", "$s20FoundationEssentials", "$ss", "$sS",
    ]

    /// The line of the app that has called into this package on the current thread.
    ///
    /// It is for a program that is about to end: it takes milliseconds and more, and the tables of the runtime that it
    /// reads do not stand several threads. `nil` where the program has no debug information, or nobody but this package
    /// has called.
    package static func ofApp() -> CallSite? {
        guard let trace = try? Backtrace.capture(limit: depth), let frames = trace.symbolicated()?.frames else {
            return nil
        }
        for frame in frames {
            guard let symbol = frame.symbol, let location = symbol.sourceLocation, location.line > 0,
                location.path.hasSuffix(".swift"), !passed.contains(where: { symbol.rawName.hasPrefix($0) })
            else { continue }
            return CallSite(file: location.path, line: location.line)
        }
        return nil
    }
}
