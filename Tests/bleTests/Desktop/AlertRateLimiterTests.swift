import CoreBluetoothExtras
import Testing

@testable import ble

@Suite("Alert rate on the desktop")
struct AlertRateLimiterTests {
    private let start = ContinuousClock.now

    private func subject(_ app: String, _ occasion: BluetoothAlerts.Alert.Occasion) -> AlertRateLimiter.Subject {
        .init(app: app, peer: UUID(uuidString: "00000000-0000-0000-0000-000000000001") ?? UUID(), occasion: occasion)
    }

    @Test("One alert of each kind is shown every ten seconds")
    func pause() {
        var rhythm = AlertRateLimiter()
        let due = stride(from: 0, through: 30, by: 1).filter { second in
            rhythm.isDue(subject("A", .notification), at: start.advanced(by: .seconds(second)))
        }
        #expect(due == [0, 10, 20, 30])
    }

    @Test("Alerts of another app or event are shown independently")
    func kinds() {
        var rhythm = AlertRateLimiter()
        let subjects = [subject("A", .notification), subject("B", .notification), subject("A", .disconnection)]
        let due = (subjects + subjects).map { rhythm.isDue($0, at: start) }
        #expect(due == [true, true, true, false, false, false])
    }

    @Test("The number of remembered kinds is limited")
    func limit() {
        var rhythm = AlertRateLimiter()
        let due = (0...AlertRateLimiter.most).map { rhythm.isDue(subject("\($0)", .connection), at: start) }
        #expect(due.allSatisfy { $0 })
        let (first, last) = (subject("0", .connection), subject("\(AlertRateLimiter.most)", .connection))
        let again = [last, first].map { rhythm.isDue($0, at: start) }
        #expect(again == [false, true])
    }
}
