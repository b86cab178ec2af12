import BLEWire
import Testing

@testable import BLEHost

@Suite("Link encryption")
struct LinkEncryptionTests {
    /// What the controller says, and what that means to a link that is in one of the states.
    struct Case: Sendable {
        let name: String
        let keys: [LinkEncryption.Key]
        let isOn: Bool
        let status: HCI.Status
        let says: Bool
        let outcome: LinkEncryption.OnChange
    }

    /// `keys` are given one after the other, each but the last, which is given only if the link is not `isOn`, is used.
    static let cases: [Case] = [
        Case(name: "off", keys: [], isOn: false, status: .success, says: true, outcome: .broken),
        Case(name: "off", keys: [], isOn: false, status: .success, says: false, outcome: .unexpected),
        Case(name: "off", keys: [], isOn: false, status: .pinOrKeyMissing, says: false, outcome: .unexpected),
        Case(name: "starting", keys: [.bond], isOn: false, status: .success, says: true, outcome: .encrypted(.bond)),
        Case(
            name: "starting",
            keys: [.bond],
            isOn: false,
            status: .pinOrKeyMissing,
            says: false,
            outcome: .failed(.bond)
        ),
        Case(name: "starting", keys: [.bond], isOn: false, status: .success, says: false, outcome: .broken),
        Case(
            name: "starting",
            keys: [.pairing],
            isOn: false,
            status: .success,
            says: true,
            outcome: .encrypted(.pairing)
        ),
        Case(name: "on", keys: [.bond], isOn: true, status: .success, says: true, outcome: .encrypted(.bond)),
        Case(name: "on", keys: [.bond], isOn: true, status: .success, says: false, outcome: .broken),
        Case(name: "on", keys: [.bond], isOn: true, status: .micFailure, says: false, outcome: .broken),
        Case(
            name: "another key",
            keys: [.bond, .pairing],
            isOn: false,
            status: .success,
            says: true,
            outcome: .encrypted(.pairing)
        ),
        Case(
            name: "another key",
            keys: [.bond, .pairing],
            isOn: false,
            status: .pinOrKeyMissing,
            says: false,
            outcome: .broken
        ),
    ]

    @Test("Each controller event has one meaning in each state", arguments: cases)
    func change(case: Case) {
        var encryption = LinkEncryption()
        for (index, key) in `case`.keys.enumerated() {
            encryption.begin(with: key, until: Instant() + .seconds(5))
            #expect(encryption.isStarting)
            let isLast = index == `case`.keys.count - 1
            if !isLast || `case`.isOn { #expect(encryption.changed(.success, isOn: true) == .encrypted(key)) }
        }
        #expect(encryption.changed(`case`.status, isOn: `case`.says) == `case`.outcome)
        #expect(!encryption.isStarting)
        let isEncrypted = if case .encrypted = `case`.outcome { true } else { false }
        #expect(encryption.isOn == isEncrypted)
    }

    @Test("A link counts as encrypted while its key is being changed")
    func refresh() {
        var encryption = LinkEncryption()
        encryption.begin(with: .bond, until: Instant() + .seconds(5))
        #expect(!encryption.isOn)
        _ = encryption.changed(.success, isOn: true)
        encryption.begin(with: .pairing, until: Instant() + .seconds(5))
        #expect(encryption.isOn && encryption.isStarting)
    }

    @Test("Encryption that does not complete in time fails", arguments: [LinkEncryption.Key.bond, .pairing])
    func overdue(key: LinkEncryption.Key) {
        let due = Instant() + .seconds(5)
        var encryption = LinkEncryption()
        #expect(encryption.deadline == nil && encryption.startingKey == nil)
        encryption.begin(with: key, until: due)
        #expect(encryption.deadline == due && encryption.startingKey == key)
        #expect(encryption.expire(at: due + .nanoseconds(-1)) == .nothing)
        #expect(encryption.expire(at: due) == .overdue(key))
        #expect(encryption.deadline == nil && encryption.expire(at: due + .seconds(1)) == .nothing)
        #expect(encryption.changed(.success, isOn: true) == .broken)
    }

    /// How often the ends of a link meet, in units of 1.25 ms, how many meetings the peripheral skips, and for how long
    /// the host waits, in milliseconds.
    static let paces: [(interval: UInt16?, latency: UInt16, patience: Int)] = [
        (nil, 0, 5_000), (24, 0, 5_000), (400, 0, 5_000), (800, 0, 10_000), (400, 4, 25_000),
    ]

    @Test("Encryption may take 5 s, and longer on links with rare connection events", arguments: paces)
    func patience(interval: UInt16?, latency: UInt16, patience: Int) {
        let waited = LinkEncryption.timeout(
            interval.flatMap { ConnectionInterval(wire: $0) },
            PeripheralLatency(wire: latency)
        )
        #expect(waited == .milliseconds(patience))
    }
}
