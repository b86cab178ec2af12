import BLEHost
import BLERuntime
import BLEWire

/// Controls for a machine that was placed as a ``SimulatedPeripheral``.
///
/// Closures run while the world is locked, so they must not call the world or its machines.
extension Machine {
    /// Sets the closure that answers reads of the characteristics of this type.
    public func onRead(_ characteristic: String, _ answer: @escaping @Sendable (DeviceRequest) -> DeviceAnswer) {
        set(.read, of: characteristic, answer)
    }

    /// Sets the closure that answers writes to the characteristics of this type.
    ///
    /// If the closure accepts a write, the written value becomes the current value of the characteristic.
    public func onWrite(_ characteristic: String, _ answer: @escaping @Sendable (DeviceRequest) -> DeviceAnswer) {
        set(.write, of: characteristic, answer)
    }

    /// Sets the closure that returns the values to send after a subscription.
    ///
    /// Only the values that ``DeviceAnswer/notifying(_:of:after:)`` adds to the answer matter: the subscription is
    /// always accepted.
    public func onSubscription(
        _ characteristic: String,
        _ answer: @escaping @Sendable (DeviceRequest) -> DeviceAnswer
    ) {
        set(.subscription, of: characteristic, answer)
    }

    /// Sends a value to all subscribers, in notifications or indications.
    ///
    /// The value becomes the current value of the characteristic.
    public func notify(_ value: [UInt8], of characteristic: String) {
        ask { $0.update(Self.type(characteristic), value) }
    }

    /// Replaces the services.
    ///
    /// Connected centrals receive a Service Changed indication.
    ///
    /// - Precondition: The description of the device remains valid; see ``SimulatedPeripheral/validate()``.
    public func offer(_ services: [SimulatedPeripheral.Service]) {
        ask { $0.replaceServices(services) }
    }

    /// Disconnects centrals as soon as they are connected, from now on.
    ///
    /// Pass `false` to accept connections again.
    public func refuseConnections(_ isRefusing: Bool = true) {
        change { $0.behaviour.refusesConnections = isRefusing }
    }

    /// Refuses to pair from now on, so that protected values are not accessible without a bond.
    ///
    /// Pass `false` to accept pairing again.
    public func refusePairing(_ isRefusing: Bool = true) {
        ask { $0.refusePairing(isRefusing) }
    }

    /// Removes all bonds of the device, as after a reset: encrypted links end, and centrals find out at the next
    /// connection.
    public func forgetBonds() { ask { $0.forgetBonds() } }

    /// Ends the links to all centrals.
    public func disconnectCentrals() { ask { $0.disconnectAll() } }

    private func set(
        _ occasion: DeviceBehaviour.Occasion,
        of characteristic: String,
        _ answer: @escaping DeviceBehaviour.Closure
    ) {
        var earlier: DeviceBehaviour.Closure?
        change { earlier = $0.behaviour.set(occasion, of: Self.type(characteristic), answer) }
        // The earlier closure may own managers, which lock the world when they are released.
        withExtendedLifetime(earlier) {}
    }

    private static func type(_ text: String) -> BluetoothUUID {
        guard let uuid = BluetoothUUID(text) else { preconditionFailure("“\(text)” must be a UUID, such as 180D") }
        return uuid
    }

    private func change(_ body: (inout ScriptedDevice) -> Void) {
        ask { device in
            body(&device)
            return []
        }
    }

    /// Calls `body`, which changes the device, and passes the requests that it returns to the host.
    private func ask(_ body: (inout ScriptedDevice) -> [ClientRequest]) {
        world.change { core in
            guard let place = core.devices.firstIndex(where: { $0.station == index }) else {
                preconditionFailure("the machine “\(name)” must be a device that was placed with World.place")
            }
            for request in body(&core.devices[place]) { core.enqueue(.request(request, core.devices[place].client)) }
            core.deviceDeadlines[place] = core.devices[place].deadline
        }
    }
}
