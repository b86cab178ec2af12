import BLERuntime
import CoreBluetoothExtras

/// The display of alerts about events that suspended apps would miss.
///
/// Each alert is printed and, if there is a desktop, also shown as a desktop notification.
@MainActor
final class AlertPresenter {
    private let printer: Printer
    private let desktop: DesktopNotifications?
    private var rhythm = AlertRateLimiter()
    private var alerts: BluetoothAlerts?

    /// Starts to show alerts.
    init(_ printer: Printer, _ desktop: DesktopNotifications?) {
        self.printer = printer
        self.desktop = desktop
        alerts = BluetoothAlerts(queue: .main) { [weak self] alert in
            MainActor.assumeIsolated { self?.show(alert) }
        }
    }

    /// Stops showing alerts.
    func close() { alerts = nil }

    private func show(_ alert: BluetoothAlerts.Alert) {
        printer.print(Fact(alert))
        guard let desktop, rhythm.isDue(AlertRateLimiter.Subject(alert), at: .now) else { return }
        desktop.tell(alert.app.nameOnDesktop, alert.textOnDesktop)
    }
}

/// A rate limit for desktop notifications: one of each kind in ten seconds, because hundreds of values can arrive in
/// that time.
struct AlertRateLimiter {
    /// The properties that alerts of one kind share.
    struct Subject: Equatable {
        let app: String
        let peer: UUID
        let occasion: BluetoothAlerts.Alert.Occasion

        init(app: String, peer: UUID, occasion: BluetoothAlerts.Alert.Occasion) {
            self.app = app
            self.peer = peer
            self.occasion = occasion
        }

        init(_ alert: BluetoothAlerts.Alert) {
            self.init(app: alert.app, peer: alert.identifier, occasion: alert.occasion)
        }
    }

    static let pause = Duration.seconds(10)
    /// The maximum number of kinds that are remembered at a time.
    ///
    /// When it is exceeded, the oldest kind is forgotten.
    static let most = 256

    private var shown: [(subject: Subject, time: ContinuousClock.Instant)] = []

    mutating func isDue(_ subject: Subject, at now: ContinuousClock.Instant) -> Bool {
        shown.removeAll { $0.time.advanced(by: Self.pause) <= now }
        guard !shown.contains(where: { $0.subject == subject }) else { return false }
        if shown.count == Self.most { shown.removeFirst() }
        shown.append((subject, now))
        return true
    }
}

extension BluetoothAlerts.Alert {
    /// The text of the desktop notification, which is shown below the app's name.
    fileprivate var textOnDesktop: String {
        let device = name.map { "“\($0.nameOnDesktop)”" } ?? "an unnamed device"
        return switch occasion {
        case .connection: "Connected to \(device)."
        case .disconnection: "The connection to \(device) was lost."
        case .notification: "Received a notification from \(device)."
        }
    }
}

extension Fact {
    fileprivate init(_ alert: BluetoothAlerts.Alert) {
        var fields = DeviceKeys(alert.identifier, name: alert.name).fields
        fields["occasion"] = "\(alert.occasion)"
        fields["app"] = alert.app
        fields["peer"] = alert.identifier.uuidString
        self.init("alert", fields, text: alert.text.printable)
    }
}
