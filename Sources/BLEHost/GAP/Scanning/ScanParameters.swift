/// The controller's scan parameters.
///
/// Core 6.0, Vol 4, Part E, 7.8.10 and 7.8.64.
package struct ScanParameters: Equatable, Sendable {
    /// True to request scan responses.
    package var isActive = true
    /// The scan interval on each PHY, 2.5 ms to 10.24 s.
    ///
    /// The default leaves some time for links.
    package var interval = Duration.milliseconds(40)
    /// The scan window on the 1M PHY.
    ///
    /// With extended commands, `nil` turns off scanning on this PHY; with legacy commands, `nil` makes the controller
    /// scan all the time.
    package var window: Duration? = .milliseconds(30)
    /// The scan window on the Coded PHY; `nil` to turn off scanning on this PHY.
    ///
    /// The value is ignored if the controller does not support the PHY.
    ///
    /// The default is the part of the interval that the window of the 1M PHY leaves free.
    package var codedWindow: Duration? = .milliseconds(10)
    /// The kind of address in scan requests; `nil` for the host's default.
    package var ownAddress: OwnAddressKind?

    package init() {}

    /// The parameters for background apps: the host scans a tenth of the time on the 1M PHY, and a third of that on the
    /// Coded PHY.
    static let background: Self = {
        var parameters = Self()
        parameters.interval = .milliseconds(300)
        return parameters
    }()
}
