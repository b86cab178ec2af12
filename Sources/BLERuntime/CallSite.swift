import Runtime

/// A source line of the app, found through debug information.
package struct CallSite: Hashable, Sendable, CustomStringConvertible {
    package var file: String
    package var line: Int

    package init(file: String, line: Int) {
        self.file = file
        self.line = line
    }

    package var description: String { "\(file):\(line)" }

    /// The maximum number of stack frames to search.
    private static let depth = 48

    /// The prefixes of the mangled names of functions outside of the app, whose stack frames are skipped.
    private static let passed = [
        "$s13CoreBluetooth", "$s19CoreBluetoothExtras", "$s10BLERuntime", "$s13BLESimulation", "$s7BLEHost",
        "$s8Dispatch", "$s10Foundation", "$s20FoundationEssentials", "$ss", "$sS",
    ]

    /// Returns the line of the app's code that called into this package on the current thread.
    ///
    /// Returns `nil` without debug information, or if none of the app's code is on the stack. Call this only in
    /// programs that are about to end: the search takes milliseconds, and the runtime tables that it reads are not
    /// thread-safe.
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
