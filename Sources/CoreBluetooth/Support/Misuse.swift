import BLERuntime
import Glibc

/// Warnings about incorrect use of the API.
///
/// Each warning is one line on standard error, as in Apple's framework.
enum Misuse {
    /// The closure that writes the line of a warning.
    ///
    /// Tests bind a closure that collects the lines.
    @TaskLocal static var sink: @Sendable (String) -> Void = { line in
        // If standard error is closed, the line is dropped.
        try? StandardStream.error.write(line: line)
    }
}

/// Ends the program and prints the reason, in debug and in optimized builds.
///
/// Used where Apple's framework raises an exception.
///
/// If the program has debug information, the location of the call in the app's code follows the reason.
func raise(_ reason: String) -> Never {
    try? StandardStream.error.write(line: "Fatal error: \(reason)")
    if let place = CallSite.ofApp() { try? StandardStream.error.write(line: "Called at \(place)") }
    abort()
}

/// The warnings of one manager and its objects.
struct Console: Sendable {
    private let sink = Misuse.sink

    /// Reports that a call was ignored because it is not allowed now.
    func misuse(_ text: String) { sink("API MISUSE: \(text)") }

    /// Reports that a call was carried out only in part, or may be a mistake.
    func warn(_ text: String) { sink("WARNING: \(text)") }
}

// There is no way to find out which optional methods a delegate has. Instead, the default implementation of a method
// reports that the method is missing when it is called.
extension HostSession {
    /// Reports that the app was woken in the background for a call of `method`, which the delegate lacks.
    ///
    /// A simulated world lists the missing method as a finding.
    ///
    /// An app that declares a Bluetooth background mode is woken for connections and values (as a central), or for
    /// requests and subscriptions (as a peripheral), and is expected to handle them: Core Bluetooth Programming Guide,
    /// “Core Bluetooth Background Processing”.
    func reportMissing(_ method: String) {
        report("Core Bluetooth Background Processing: delegate methods", "the delegate lacks \(method)")
    }
}
