/// The controller's scan parameters.
///
/// Core 6.0, Vol 4, Part E, 7.8.10 and 7.8.64.
package struct ScanParameters: Equatable, Sendable {
    /// True if to request scan responses.
    package var isActive = true
    /// The scan interval on a PHY, 2.5 ms to 10.24 s.
    ///
    /// The default leaves some time for links.
    package var interval = Duration.milliseconds(40)
    /// The scan window on the 1M PHY.
    package var window: Duration? = .milliseconds(30)
    /// The scan window on the Coded PHY, if the controller supports it.
    ///
    /// The default is the time that the other PHY leaves.
    package var codedWindow: Duration? = .milliseconds(10)
    /// The own address in scan requests; `nil` for the host's usual one.
    package var ownAddress: OwnAddressKind?

    package init() {}

    /// The parameters for background apps: a tenth of the time, and the Coded PHY a third of that.
    static let background: Self = {
        var parameters = Self()
        parameters.interval = .milliseconds(300)
        return parameters
    }()
}
