/// How the controller listens while it scans.
///
/// Core 6.0, Vol 4, Part E, 7.8.10 and 7.8.64.
package struct ScanParameters: Equatable, Sendable {
    /// Whether to ask advertisers for what else they say.
    package var isActive = true
    /// How often to listen on a PHY, 2.5 ms to 10.24 s: most of the time if nothing else is said, with room left for
    /// links.
    package var interval = Duration.milliseconds(40)
    /// How long to listen on the 1M PHY each time.
    package var window: Duration? = .milliseconds(30)
    /// How long to listen on the Coded PHY each time, if the controller can: what the other PHY leaves.
    package var codedWindow: Duration? = .milliseconds(10)
    /// The address to ask advertisers from; what this host shows otherwise if `nil`.
    package var ownAddress: OwnAddressKind?

    package init() {}

    /// For apps in the background alone: a tenth of the time, and the Coded PHY a third of that.
    static let background: Self = {
        var parameters = Self()
        parameters.interval = .milliseconds(300)
        return parameters
    }()
}
