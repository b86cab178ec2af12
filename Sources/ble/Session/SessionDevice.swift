import CoreBluetooth
import CoreBluetoothExtras

/// A device that a session connects to, from `connect` until it is disconnected for good.
@MainActor
final class SessionDevice {
    /// The shortest and the longest pause before the device is connected again.
    private static let pauses = (first: Duration.milliseconds(500), longest: Duration.seconds(30))

    /// The peripheral, which is replaced after a loss of the radio.
    var peripheral: CBPeripheral
    let identifier: UUID
    /// The text that named the device in `connect`; in lower case, it is also the name of the device's queue of
    /// commands.
    let alias: String
    /// The name by which the device was found, or its GAP device name; `nil` if neither is known.
    let name: String?
    /// The time at which the device was connected, counted from the creation of the engine; `nil` if it is not
    /// connected.
    var connectedSince: Duration?
    /// True if the device is connected again whenever the connection is lost.
    var reconnects = false
    /// The subscribed characteristics.
    var subscriptions: [CBCharacteristic] = []
    /// The characteristics to subscribe to after a reconnection.
    var lostSubscriptions: [CharacteristicReference] = []
    /// The command that waits for a channel to be opened; `nil` if there is none.
    var opening: CheckedContinuation<CBL2CAPChannel, any Error>?
    /// The pause before the next attempt to connect again.
    private var pause = SessionDevice.pauses.first

    init(_ peripheral: CBPeripheral, alias: String, name: String?) {
        (self.peripheral, self.alias, self.name) = (peripheral, alias, name)
        identifier = peripheral.identifier
    }

    /// Returns true if `text` is the device's identifier, address or name, or the text that named it in `connect`.
    func isCalled(_ text: String) -> Bool {
        let reference = PeerReference(text: text)
        return text.lowercased() == alias.lowercased()
            || [name, peripheral.name].contains { reference.match(identifier, name: $0, address: address) == .exact }
    }

    /// The last known address; `nil` if it is unknown or hidden by a policy.
    var address: String? { peripheral.bluetoothAddress.flatMap { $0.isHidden ? nil : "\($0)" } }

    /// The keys that identify the device in a line.
    var keys: [String: Any] {
        var fields = DeviceKeys(identifier, name: name ?? peripheral.name).fields
        fields["address"] = address
        return fields
    }

    /// Returns the pause before the next attempt to connect again, and doubles the pause for the following attempt.
    func nextPause() -> Duration {
        defer { pause = min(pause * 2, Self.pauses.longest) }
        return pause
    }

    /// Makes the next pause the shortest one again.
    func resetPause() { pause = Self.pauses.first }

    /// Moves all subscriptions to ``lostSubscriptions``, because the connection was lost.
    func loseSubscriptions() {
        lostSubscriptions += subscriptions.map(CharacteristicReference.init(to:))
        subscriptions = []
    }
}
