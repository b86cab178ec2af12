import BLERuntime
import Glibc

/// Warnings about wrong use of the API: one line each on standard error, as in Apple's framework.
enum Misuse {
    /// The destination of the lines, which tests bind to read them.
    @TaskLocal static var sink: @Sendable (String) -> Void = { line in
        // Whoever closes the standard error wants to read none of it.
        try? StandardStream.error.write(line: line)
    }
}

/// Ends the program with the reason, where Apple's framework raises an exception; also in optimized builds.
///
/// The line of the app's code follows the reason if the program has debug information.
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

    /// Reports that a call was carried out in part, or may be a mistake.
    func warn(_ text: String) { sink("WARNING: \(text)") }
}
