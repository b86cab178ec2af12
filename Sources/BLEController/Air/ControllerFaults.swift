/// The faults that a test sets for one controller.
package struct ControllerFaults: Hashable, Sendable {
    /// True if the controller ignores all packets from its host and sends it no events.
    package var isMute = false
    /// The probability, from 0 to 1, that an event is lost on its way to the host.
    package var dropEvents = 0.0
    /// The number of connection requests over the air to this controller that are still to be lost.
    package var lostConnectIndications = 0

    package init() {}
}
