import BLEHost
package import BLEWire
import DBus

/// A pair of sockets between the bridge and a program, made by `AcquireWrite` or `AcquireNotify`.
struct Pipe: Sendable {
    let client: String
    let peer: PeerIdentifier
    let handle: AttributeHandle
    let path: String
    let isNotify: Bool
    /// True while nothing is read from the pipe because too many write commands are still in the host.
    var isPaused = false
    /// The values that were read from the pipe and not yet given to the host.
    var unsent: [[UInt8]] = []
}

extension BlueZBridge {
    mutating func addSubscriber(_ client: String, _ handle: AttributeHandle, at peer: PeerIdentifier) {
        changeCharacteristic(handle, at: peer) { $0.subscribers.append(client) }
    }

    mutating func dropSubscriber(_ client: String, _ handle: AttributeHandle, at peer: PeerIdentifier) {
        changeCharacteristic(handle, at: peer) { $0.subscribers.removeAll { $0 == client } }
    }

    /// Ends a program's notify session without sending a request to the device.
    mutating func endSubscription(
        _ characteristic: RemoteDatabase.Characteristic,
        of client: String,
        at peer: PeerIdentifier
    ) {
        let rest = characteristic.subscribers.filter { $0 != client }
        changeCharacteristic(characteristic.definition.value, at: peer) { $0.subscribers = rest }
        tree.set(characteristic.path, BlueZ.characteristic, "Notifying", .boolean(!rest.isEmpty))
    }

    private mutating func changeCharacteristic(
        _ handle: AttributeHandle,
        at peer: PeerIdentifier,
        _ change: (inout RemoteDatabase.Characteristic) -> Void
    ) {
        _ = devices.update(peer) { $0.database.characteristics.update(handle, change) }
    }

    /// Ends a program's notify sessions and pipes for a device to which its session is no longer connected.
    mutating func dropSubscriptions(of client: String, at peer: PeerIdentifier) {
        for characteristic in devices[peer]?.database.characteristics.all ?? []
        where characteristic.subscribers.contains(client) {
            endSubscription(characteristic, of: client, at: peer)
        }
        for number in pipes.keys where pipes[number]?.client == client && pipes[number]?.peer == peer {
            closePipe(number)
        }
    }

    /// Ends the notify sessions and pipes of a program that has left the bus.
    mutating func endNotifications(of client: String) {
        for device in devices.all {
            for characteristic in device.database.characteristics.all
            where characteristic.subscribers.contains(client) {
                endSubscription(characteristic, of: client, at: device.peer)
                request(
                    SessionKey(client, .central),
                    device.peer,
                    .subscribe(.none, to: characteristic.definition.value, in: characteristic.descriptors),
                    for: .dropSubscription
                )
            }
        }
        for number in pipes.keys where pipes[number]?.client == client { pipeClosed(number) }
    }

    /// Stores the value of an attribute for one program, and signals the value only to that program.
    ///
    /// The signal goes to all of the program's connections to the bus, because the program may make calls on one and
    /// receive signals on another.
    mutating func signalValue(_ value: [UInt8], of path: String, _ interface: String, to client: String) {
        flushSignals()
        var signal = BusMessage(
            kind: .signal,
            path: path,
            interface: ObjectTree.properties,
            member: "PropertiesChanged"
        )
        signal.body = [.string(interface), .properties([("Value", .octets(value))]), .strings([])]
        for name in clients.keys where isSameProgram(name, client) {
            _ = clients.update(name) { client in
                if client.values[path] == nil, client.values.count >= Limit.values,
                    let oldest = client.values.keys.first
                {
                    client.values[oldest] = nil
                }
                client.values[path] = value
            }
            signal.destination = name
            act(.send(signal))
        }
    }

    /// Returns true if `client` and `other` are the same connection to the bus, or two connections of one process.
    ///
    /// Two connections count only while `client` has not left the bus.
    private func isSameProgram(_ client: String, _ other: String) -> Bool {
        guard client != other else { return true }
        guard let one = clients[client], one.credentials?.process != nil, !one.isGone else { return false }
        return one.credentials == clients[other]?.credentials
    }

    /// Passes on a notification to the program whose session has received it.
    ///
    /// If a program has subscribed over several connections to the bus, the sessions of all these connections receive
    /// each value. The value is passed on only once: when the session of the first connection receives it.
    mutating func notified(_ peer: PeerIdentifier, _ handle: AttributeHandle, _ value: [UInt8], _ key: SessionKey) {
        guard let characteristic = devices[peer]?.database.characteristics[handle] else { return }
        if let number = characteristic.notifyPipe, pipes[number]?.client == key.client {
            return act(.writePipe(number, value))
        }
        let first = characteristic.subscribers.first { isSameProgram($0, key.client) }
        guard first == key.client else { return }
        signalValue(value, of: characteristic.path, BlueZ.characteristic, to: key.client)
    }
}

extension BlueZBridge {
    /// Creates a pair of sockets, for notifications if `isNotify` is true and otherwise for writes, and gives the
    /// program one of them.
    mutating func openPipe(
        _ caller: Caller,
        _ peer: PeerIdentifier,
        _ handle: AttributeHandle,
        _ path: String,
        isNotify: Bool
    ) {
        guard let characteristic = devices[peer]?.database.characteristics[handle], characteristic.path == path else {
            return refuse(caller, .doesNotExist)
        }
        var error: BlueZError?
        if isNotify, characteristic.notifyPipe != nil || !characteristic.subscribers.isEmpty {
            error = .notifyAcquired
        } else if !isNotify, characteristic.writePipe != nil {
            error = .writeAcquired
        } else if pipes.count >= Limit.pipes {
            error = .limitReached
        }
        if let error {
            if isNotify { endUnusedSubscription(of: caller.sender, to: characteristic, at: peer) }
            return refuse(caller, error)
        }
        let number = nextNumber()
        pipes[number] = Pipe(client: caller.sender, peer: peer, handle: handle, path: path, isNotify: isNotify)
        changeCharacteristic(handle, at: peer) { characteristic in
            if isNotify { characteristic.notifyPipe = number } else { characteristic.writePipe = number }
        }
        tree.set(path, BlueZ.characteristic, isNotify ? "NotifyAcquired" : "WriteAcquired", .boolean(true))
        if isNotify { tree.set(path, BlueZ.characteristic, "Notifying", .boolean(true)) }
        flushSignals()
        var reply = BusMessage(kind: .reply, replySerial: caller.serial, destination: caller.sender)
        reply.body = [.descriptor(0), .uint16(UInt16(clamping: devices[peer]?.mtu ?? 23))]
        reply.descriptors = 1
        countReply(to: caller)
        act(.sendPipe(number, reply))
    }

    /// Ends a subscription at a device, unless the program has a notify session or a pipe for it.
    private mutating func endUnusedSubscription(
        of client: String,
        to characteristic: RemoteDatabase.Characteristic,
        at peer: PeerIdentifier
    ) {
        let pipe = characteristic.notifyPipe.flatMap { pipes[$0] }
        guard pipe?.client != client, !characteristic.subscribers.contains(client) else { return }
        request(
            SessionKey(client, .central),
            peer,
            .subscribe(.none, to: characteristic.definition.value, in: characteristic.descriptors),
            for: .dropSubscription
        )
    }

    /// Closes the bridge's end of a pipe.
    mutating func closePipe(_ number: PipeNumber) {
        guard let pipe = pipes[number] else { return }
        pipes[number] = nil
        act(.closePipe(number))
        guard let characteristic = devices[pipe.peer]?.database.characteristics[pipe.handle],
            number == (pipe.isNotify ? characteristic.notifyPipe : characteristic.writePipe)
        else { return }
        changeCharacteristic(pipe.handle, at: pipe.peer) { characteristic in
            if pipe.isNotify { characteristic.notifyPipe = nil } else { characteristic.writePipe = nil }
        }
        tree.set(pipe.path, BlueZ.characteristic, pipe.isNotify ? "NotifyAcquired" : "WriteAcquired", .boolean(false))
        if pipe.isNotify { tree.set(pipe.path, BlueZ.characteristic, "Notifying", .boolean(false)) }
    }

    /// Closes a pipe whose other end the program has closed, and unsubscribes if it was for notifications.
    private mutating func pipeClosed(_ number: PipeNumber) {
        guard let pipe = pipes[number] else { return }
        let characteristic = devices[pipe.peer]?.database.characteristics[pipe.handle]
        closePipe(number)
        guard pipe.isNotify, let characteristic else { return }
        request(
            SessionKey(pipe.client, .central),
            pipe.peer,
            .subscribe(.none, to: pipe.handle, in: characteristic.descriptors),
            for: .dropSubscription
        )
    }

    /// Processes `value`, which a program has written to its pipe; `nil` means that the program has closed the pipe.
    package mutating func receive(_ value: [UInt8]?, from number: PipeNumber, at time: Instant) -> [Action] {
        now = time
        if exportedPipes[number] != nil {
            receiveExported(value, from: number)
        } else if let value, let pipe = pipes[number], !pipe.isNotify {
            _ = pipes.update(number) { $0.unsent.append(value) }
            sendValues(of: number)
            if !pipe.isPaused, sessions[SessionKey(pipe.client, .central)]?.commands ?? 0 >= Limit.commands {
                _ = pipes.update(number) { $0.isPaused = true }
                act(.pausePipe(number))
            }
        } else if value == nil {
            pipeClosed(number)
        }
        return takeActions()
    }

    /// Sends the values that were read from a pipe, as far as there is room for write commands; returns true if none is
    /// left.
    @discardableResult mutating func sendValues(of number: PipeNumber) -> Bool {
        while let pipe = pipes[number], let value = pipe.unsent.first {
            guard sendCommand(pipe.handle, value, SessionKey(pipe.client, .central), pipe.peer) else { return false }
            _ = pipes.update(number) { $0.unsent.removeFirst() }
        }
        return true
    }
}
