public import Foundation

public let kCLDistanceFilterNone: CLLocationDistance = -1
public let kCLErrorDomain = "kCLErrorDomain"
public let kCLLocationAccuracyBest: CLLocationAccuracy = -1
public let kCLLocationAccuracyBestForNavigation: CLLocationAccuracy = -2
public let kCLLocationAccuracyHundredMeters: CLLocationAccuracy = 100
public let kCLLocationAccuracyKilometer: CLLocationAccuracy = 1000
public let kCLLocationAccuracyNearestTenMeters: CLLocationAccuracy = 10
public let kCLLocationAccuracyThreeKilometers: CLLocationAccuracy = 3000

/// The permission of a program to receive locations.
public enum CLAuthorizationStatus: Int32, Sendable {
    case notDetermined, restricted, denied, authorizedAlways, authorizedWhenInUse
    public static let authorized = authorizedAlways
}

/// The reason why a program receives no locations.
public struct CLError: CustomNSError, Hashable, Sendable {
    public enum Code: Int, Sendable { case locationUnknown, denied, network }

    public let code: Code

    public init(_ code: Code) { self.code = code }

    public static var errorDomain: String { kCLErrorDomain }
    public static var denied: Code { .denied }
    public static var locationUnknown: Code { .locationUnknown }
    public static var network: Code { .network }
    public var errorCode: Int { code.rawValue }
}

/// The delegate of a location manager. All methods are optional.
public protocol CLLocationManagerDelegate: NSObjectProtocol {
    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation])
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error)
    func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus)
    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager)
}

extension CLLocationManagerDelegate {
    public func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {}
    public func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {}
    public func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus) {}
    public func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {}
}

/// A manager that never has locations, as on a device whose user has denied them.
///
/// A request for locations calls the delegate with the error ``CLError/denied``, on the main queue.
open class CLLocationManager: NSObject {
    open weak var delegate: (any CLLocationManagerDelegate)?
    open var desiredAccuracy = kCLLocationAccuracyBest
    open var distanceFilter = kCLDistanceFilterNone
    open var allowsBackgroundLocationUpdates = false
    open var pausesLocationUpdatesAutomatically = true
    /// Always `nil`.
    open var location: CLLocation? { nil }
    /// Always ``CLAuthorizationStatus/denied``.
    open var authorizationStatus: CLAuthorizationStatus { .denied }

    public override init() { super.init() }

    /// Returns ``CLAuthorizationStatus/denied``.
    open class func authorizationStatus() -> CLAuthorizationStatus { .denied }
    /// Returns false.
    open class func locationServicesEnabled() -> Bool { false }

    /// Has no effect: the permission is denied.
    open func requestWhenInUseAuthorization() {}
    /// Has no effect: the permission is denied.
    open func requestAlwaysAuthorization() {}

    open func requestLocation() { fail() }
    open func startUpdatingLocation() { fail() }
    open func stopUpdatingLocation() {}
    open func startMonitoringSignificantLocationChanges() { fail() }
    open func stopMonitoringSignificantLocationChanges() {}

    private func fail() {
        nonisolated(unsafe) weak let manager = self
        DispatchQueue.main.async {
            guard let manager else { return }
            manager.delegate?.locationManager(manager, didFailWithError: CLError(.denied))
        }
    }
}
