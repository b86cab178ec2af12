/// The faults of one controller, set by a test.
package struct ControllerFaults: Hashable, Sendable {
    /// True if the controller ignores its host and reports nothing.
    package var isMute = false
    /// The probability that an event is lost on its way to the host.
    package var dropEvents = 0.0
    /// The number of connection requests to this controller that will be lost.
    package var lostConnectIndications = 0

    package init() {}
}
