import BLEHost
import BLERuntime
import BLEWire

/// What a test can have a machine do that was placed as a ``SimulatedPeripheral``.
///
/// Closures decide on the thread of the world, which they must not call.
extension Machine {
    /// Has `answer` decide what centrals read of the characteristics of this type.
    public func onRead(_ characteristic: String, _ answer: @escaping @Sendable (DeviceRequest) -> DeviceAnswer) {
        change { $0.behaviour.set(.read, of: Self.type(characteristic), answer) }
    }

    /// Has `answer` decide what becomes of a write; what is accepted is the value from then on.
    public func onWrite(_ characteristic: String, _ answer: @escaping @Sendable (DeviceRequest) -> DeviceAnswer) {
        change { $0.behaviour.set(.write, of: Self.type(characteristic), answer) }
    }

    /// Has `answer` say what is sent when a central has subscribed; its outcome does not matter.
    public func onSubscription(
        _ characteristic: String,
        _ answer: @escaping @Sendable (DeviceRequest) -> DeviceAnswer
    ) {
        change { $0.behaviour.set(.subscription, of: Self.type(characteristic), answer) }
    }

    /// Notifies or indicates a value to those who subscribed, which is the value from now on.
    public func notify(_ value: [UInt8], of characteristic: String) {
        ask { $0.update(Self.type(characteristic), value) }
    }

    /// Offers these services instead of those before; centrals that are connected hear of the change.
    ///
    /// - Precondition: The device can advertise them: ``SimulatedPeripheral/validate()``.
    public func offer(_ services: [SimulatedPeripheral.Service]) {
        ask { $0.offer(services) }
    }

    /// Whether centrals are sent away as soon as they are connected, from now on.
    public func refuseConnections(_ isRefusing: Bool = true) {
        change { $0.behaviour.refusesConnections = isRefusing }
    }

    /// Whether the device refuses to pair from now on; what only paired devices use stays closed to others then.
    public func refusePairing(_ isRefusing: Bool = true) {
        ask { $0.refusePairing(isRefusing) }
    }

    /// Has the device forget whom it was paired with, as after a reset: links that were encrypted end, and centrals
    /// hear of it when they come again.
    public func forgetBonds() { ask { $0.forgetBonds() } }

    /// Ends the links to all centrals.
    public func disconnectCentrals() { ask { $0.disconnectAll() } }

    private static func type(_ text: String) -> BluetoothUUID {
        guard let uuid = BluetoothUUID(text) else { preconditionFailure("\(text) is no UUID") }
        return uuid
    }

    private func change(_ body: (inout ScriptedDevice) -> Void) {
        ask { device in
            body(&device)
            return []
        }
    }

    /// Has the device do something, and the host what follows from it.
    private func ask(_ body: (inout ScriptedDevice) -> [ClientRequest]) {
        world.change { core in
            guard let place = core.devices.firstIndex(where: { $0.station == index }) else {
                preconditionFailure("\(name) was not placed as a SimulatedPeripheral")
            }
            for request in body(&core.devices[place]) { core.tell(.request(request, core.devices[place].client)) }
            core.deviceDeadlines[place] = core.devices[place].deadline
        }
    }
}
