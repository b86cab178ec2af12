/// What a test makes go wrong with one controller.
package struct ControllerFaults: Hashable, Sendable {
    /// Whether the controller takes nothing from its host and tells it nothing.
    package var isMute = false
    /// The probability that an event does not reach the host.
    package var dropEvents = 0.0
    /// How many of the next requests to connect that are sent to this controller get lost.
    package var lostConnectIndications = 0

    package init() {}
}
