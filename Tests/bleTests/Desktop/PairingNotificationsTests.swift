import BLESimulation
import CoreBluetooth
import CoreBluetoothExtras
import DBus
import Testing

@testable import ble

@Suite("Desktop pairing questions") @MainActor
struct PairingNotificationsTests {
    /// A desktop, of which each answer is known before.
    @MainActor private final class Desktop {
        private(set) var bus = TestBus()
        private var notifications: DesktopNotifications?
        /// The button that is pressed at once; closes the notification if empty, and leaves it if `nil`.
        private let pressed: String?

        init(pressed: String?) { self.pressed = pressed }

        func open() throws -> DesktopNotifications {
            var said: [[UInt8]] = []
            let notifications = try DesktopNotifications(user: 0) { [weak self] octets in
                guard let self, self.notifications != nil else { return said.append(octets) }
                hear(octets)
            }
            self.notifications = notifications
            for octets in said { hear(octets) }
            return notifications
        }

        private func hear(_ octets: [UInt8]) {
            var answer = bus.answer(octets)
            for message in TestBus.messages(in: octets) where message.member == "Notify" {
                guard let pressed, case .array(_, let actions) = message.body[5], !actions.isEmpty else { continue }
                let number = BusValue.uint32(UInt32(bus.bodies(of: "Notify").count))
                if !pressed.isEmpty { answer += bus.signal("ActionInvoked", [number, .string(pressed)]) }
                answer += bus.signal("NotificationClosed", [number, .uint32(2)])
            }
            // Nothing is answered while it is still being asked.
            DispatchQueue.main.async { MainActor.assumeIsolated { self.notifications?.receive(answer) } }
        }

        /// Summaries and bodies, in order.
        var shown: [[String]] {
            bus.bodies(of: "Notify").map { body in
                body[3...4].compactMap { if case .string(let text) = $0 { text } else { nil } }
            }
        }
    }

    private final class Lock: NSObject, CBPeripheralManagerDelegate {
        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
    }

    /// Connects a phone to a lock whose value only paired devices read, while time passes; returns whether it was read.
    ///
    /// The desktop asks at the phone, or at the lock. At the other one somebody says yes to everything that he can be
    /// asked.
    private func read(
        seed: UInt64 = 1,
        by desktop: Desktop,
        isAtLock: Bool = false,
        other capability: PairingCapability? = .displayYesNo
    ) async throws -> Bool {
        let world = World(seed: seed, conditions: .init(loss: 0.1))
        let phone = world.machine("phone"), lock = world.machine("lock", at: .init(x: 2)), app = Lock()
        let notices = PairingNotifications(try desktop.open())
        let pairing = (isAtLock ? lock : phone).inhabit {
            BluetoothPairing(capability: .displayYesNo, queue: .main) { event in
                MainActor.assumeIsolated { notices.receive(event) }
            }
        }
        let other = (isAtLock ? phone : lock).inhabit {
            BluetoothPairing(capability: capability, queue: .main) { event in
                if case .asked(let prompt) = event { prompt.accept() }
            }
        }
        defer { withExtendedLifetime((pairing, other)) {} }
        let server = lock.inhabit { CBPeripheralManager(delegate: app, queue: .main) }
        let central = phone.inhabit { CBCentralManager(delegate: nil, queue: .main) }
        let work = Task {
            try await server.poweredOn()
            let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
            service.characteristics = [
                CBMutableCharacteristic(
                    type: CBUUID(string: "FFF1"),
                    properties: .read,
                    value: Data([42]),
                    permissions: .readEncryptionRequired
                )
            ]
            server.add(service)
            server.startAdvertising([
                CBAdvertisementDataServiceUUIDsKey: [service.uuid], CBAdvertisementDataLocalNameKey: "Lock",
            ])
            try await central.poweredOn()
            for await found in central.discoveries(ScanFilter(services: [service.uuid])) {
                try await central.connect(found.peripheral, timeout: .seconds(20))
                let services = try await found.peripheral.findServices([service.uuid])
                let value = try await found.peripheral.findCharacteristics(of: services[0])[0]
                return try await found.peripheral.value(of: value) == Data([42])
            }
            return false
        }
        var result: Result<Bool, any Error>?
        Task { result = await work.result }
        for _ in 0..<12_000 where result == nil { await world.advance(by: .milliseconds(10)) }
        work.cancel()
        return (try? result?.get()) ?? false
    }

    @Test("The button pairs by the number that both devices show", arguments: 0..<16 as Range<UInt64>)
    func compares(seed: UInt64) async throws {
        let desktop = Desktop(pressed: "pair")
        #expect(try await read(seed: seed, by: desktop))
        #expect(desktop.shown.map { $0[0] } == ["Pair with Lock?", "Paired with Lock"])
        #expect(desktop.shown.first?.last?.contains(/^Does Lock also show [0-9]{6}\?$/) == true)
        #expect(desktop.bus.bodies(of: "CloseNotification") == [[.uint32(1)]])
    }

    @Test("If there is no number to compare, the button pairs after a warning")
    func consents() async throws {
        let desktop = Desktop(pressed: "pair")
        #expect(try await read(by: desktop, isAtLock: true, other: nil))
        #expect(desktop.shown.first?.last == "This gives no protection against a man in the middle.")
        #expect(desktop.shown.last?.last == "Using Just Works (no protection against a man in the middle).")
    }

    @Test("Cancelling or closing the notification refuses, without another notification", arguments: ["cancel", ""])
    func refuses(pressed: String) async throws {
        let desktop = Desktop(pressed: pressed)
        #expect(try await !read(by: desktop))
        #expect(desktop.shown.map { $0[0] } == ["Pair with Lock?"])
    }

    @Test("Without a response the notification is closed, and another reports that pairing failed")
    func withdraws() async throws {
        let desktop = Desktop(pressed: nil)
        #expect(try await !read(by: desktop))
        #expect(desktop.bus.bodies(of: "CloseNotification") == [[.uint32(1)]])
        #expect(desktop.shown.map { $0[0] } == ["Pair with Lock?", "Not paired with Lock"])
    }

    @Test("A passkey to be typed is shown with a cancel button, and no notification asks for a passkey")
    func questions() {
        let shown = DesktopNotification(asking: .show(digits: "012345"), about: "Lock")
        #expect(shown?.body == "Type 012345 on Lock." && shown?.buttons.map(\.key) == ["cancel"])
        #expect(DesktopNotification(asking: .enter, about: "Lock") == nil)
        let replacing = DesktopNotification(asking: .consent(replacesBond: true), about: "Lock")
        #expect(replacing?.body.contains("in place of") == false && replacing?.body.contains("bond") == true)
    }
}
