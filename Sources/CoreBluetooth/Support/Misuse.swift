import BLERuntime
import Glibc

/// Where a manager complains of how it is used: one line each on the standard error, as Apple's framework does.
enum Misuse {
    /// A test that wants to read the lines of the managers that it creates binds this.
    @TaskLocal static var sink: @Sendable (String) -> Void = { line in
        // Whoever closes the standard error wants to read none of it.
        try? StandardStream.error.write(line: line)
    }
}

/// Ends the program where Apple's framework raises an exception, with the reason, also in optimised builds.
///
/// The line of the app that is to blame comes after the reason, if the program has debug information.
func raise(_ reason: String) -> Never {
    try? StandardStream.error.write(line: "Fatal error: \(reason)")
    if let place = CallSite.ofApp() { try? StandardStream.error.write(line: "Called at \(place)") }
    abort()
}

/// The lines of one manager, and of what belongs to it.
struct Console: Sendable {
    private let sink = Misuse.sink

    /// Says that a call was ignored, since the app may not make it now.
    func misuse(_ text: String) { sink("API MISUSE: \(text)") }

    /// Says that something was done in part, or that the app might have meant something else.
    func warn(_ text: String) { sink("WARNING: \(text)") }
}
