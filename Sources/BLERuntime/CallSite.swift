import Runtime
import Synchronization

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

    /// Whether somebody looks for a line, since the tables of the runtime stand only one at a time.
    private static let isBusy = Atomic(false)

    /// The line of the app that has called into this package on the current thread.
    ///
    /// It takes milliseconds and more, for somebody whose program is about to end or has made a mistake. `nil` where
    /// the program has no debug information, nobody but this package has called, or another thread is looking.
    package static func ofApp() -> CallSite? {
        guard !isBusy.exchange(true, ordering: .acquiring) else { return nil }
        defer { isBusy.store(false, ordering: .releasing) }
        return search()
    }

    private static func search() -> CallSite? {
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
