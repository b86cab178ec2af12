import BLEHost
import BLEWire
import DBus

extension BlueZBridge {
    /// Connects a program's session to a device; `waiter` continues once the session is connected.
    ///
    /// If the attempt takes longer than `time`, it fails.
    mutating func connect(
        _ peer: PeerIdentifier,
        for waiter: Device.Waiter,
        within time: Duration = Self.connectionTimeout
    ) throws(BlueZError) {
        guard isPowered else { throw .notReady }
        let key = SessionKey(waiter.caller.sender, .central)
        guard let device = devices[peer] else { throw .doesNotExist }
        try check(key)
        guard !device.ending.contains(where: { $0.keys.contains(key) }) else { throw .inProgress }
        if device.links.contains(key) { return resume(waiter, peer) }
        if device.connecting[key] != nil {
            if case .connect = waiter { throw .inProgress }
            _ = devices.update(peer) { device in device.connecting.update(key) { $0.append(waiter) } }
            return
        }
        _ = devices.update(peer) { $0.connecting[key] = [waiter] }
        request(key, .connect(peer, ConnectRequest(timeout: time)))
    }

    mutating func connected(_ peer: PeerIdentifier, _ parameters: LinkParameters, by key: SessionKey) {
        guard let device = devices[peer] else { return }
        let waiters = device.connecting[key] ?? []
        _ = devices.update(peer) { device in
            device.connecting[key] = nil
            device.mtu = parameters.mtu
            if !device.links.contains(key) { device.links.append(key) }
        }
        tree.set(device.path, BlueZ.device, "Connected", .boolean(true))
        if let name = parameters.name { rename(device.path, name) }
        if device.database.state == .unknown { discoverDatabase(of: peer, by: key) }
        for waiter in waiters { resume(waiter, peer) }
    }

    /// Continues a call after the caller's session has connected to the device.
    private mutating func resume(_ waiter: Device.Waiter, _ peer: PeerIdentifier) {
        guard let device = devices[peer] else { return refuse(waiter.caller, .doesNotExist) }
        switch waiter {
        case .connect(let caller):
            guard device.database.state == .discovered else {
                _ = devices.update(peer) { $0.awaitingServices.append(caller) }
                return
            }
            reply(to: caller)
        case .connectDevice(let caller): reply(to: caller, [.path(device.path)])
        case .pair(let caller): startPairing(caller, peer)
        case .operation(let caller, let operation): start(operation, caller, peer)
        }
    }

    /// Answers the calls that wait until a device's services are known.
    ///
    /// `error` is the error to reply with if the device has disconnected; `nil` if the services are now known. If
    /// `client` is not `nil`, only calls of this program are answered.
    mutating func finishConnects(to peer: PeerIdentifier, _ error: BlueZError? = nil, of client: String? = nil) {
        guard let device = devices[peer] else { return }
        let isMeant = { (caller: Caller) in client == nil || caller.sender == client }
        _ = devices.update(peer) { $0.awaitingServices.removeAll(where: isMeant) }
        for caller in device.awaitingServices where isMeant(caller) {
            if let error { refuse(caller, error) } else { reply(to: caller) }
        }
    }

    mutating func connectFailed(_ peer: PeerIdentifier, _ failure: Failure, by key: SessionKey) {
        let error: BlueZError = failure == .limitReached ? .limitReached : .connectionAborted
        end(peer, key, error)
    }

    mutating func disconnected(_ peer: PeerIdentifier, by key: SessionKey) { end(peer, key, .connectionAborted) }

    /// Records that a session is no longer connected to a device, or could not connect.
    ///
    /// Calls that wait for the connection fail with `error`. The device stays connected while other sessions are
    /// connected to it.
    private mutating func end(_ peer: PeerIdentifier, _ key: SessionKey, _ error: BlueZError) {
        guard let device = devices[peer] else { return }
        let wasLinked = device.links.contains(key), waiters = device.connecting[key] ?? []
        _ = devices.update(peer) { device in
            device.connecting[key] = nil
            device.links.removeAll { $0 == key }
        }
        for waiter in waiters { refuse(waiter.caller, error) }
        failRequests(to: peer, of: key)
        guard wasLinked else { return finishDisconnects(from: peer, by: key) }
        if device.links == [key] {
            removeDatabase(of: peer)
            finishConnects(to: peer, error)
            tree.set(device.path, BlueZ.device, "Connected", .boolean(false))
            for name in device.pairing.keys { endPairing(name, peer, .connectionAttemptFailed) }
            _ = devices.update(peer) { $0.lastSeen = now }
            if sweepTime == nil { sweepTime = now + Self.deviceLifetime }
        } else {
            finishConnects(to: peer, error, of: key.client)
            dropSubscriptions(of: key.client, at: peer)
            if device.database.discoverer == key, let next = device.links.first(where: { $0 != key }) {
                if device.database.state == .discovered {
                    _ = devices.update(peer) { $0.database.discoverer = next }
                } else {
                    discoverDatabase(of: peer, by: next)
                }
            }
        }
        finishDisconnects(from: peer, by: key)
        closeIfUnused(key)
    }

    /// Answers the calls to `Disconnect` that were waiting only for this session's connection to end.
    private mutating func finishDisconnects(from peer: PeerIdentifier, by key: SessionKey) {
        let finished =
            devices.update(peer) { (device) -> [Device.Ending] in
                for index in device.ending.indices { device.ending[index].keys.removeAll { $0 == key } }
                defer { device.ending.removeAll(where: \.keys.isEmpty) }
                return device.ending.filter(\.keys.isEmpty)
            } ?? []
        for ending in finished { reply(to: ending.caller) }
    }

    /// Records that a session has lost all its connections and that its connection attempts have failed, because the
    /// host cannot be used or the program has left the bus; `error` says why.
    mutating func loseLinks(of key: SessionKey, _ error: BlueZError) {
        for device in devices.all where device.links.contains(key) || device.connecting[key] != nil {
            end(device.peer, key, error)
        }
    }

    /// Closes a session if its program has left the bus and no device is connected to the session.
    private mutating func closeIfUnused(_ key: SessionKey) {
        guard clients[key.client]?.isGone == true, !devices.all.contains(where: { $0.links.contains(key) }) else {
            return
        }
        loseLinks(of: key, .connectionAborted)
        close(key)
        clients[key.client] = nil
    }

    /// Returns true if the caller may end a session's connections: if the session belongs to the caller's user, or the
    /// caller is root.
    func mayEnd(_ key: SessionKey, _ caller: Caller) -> Bool {
        let user = clients[caller.sender]?.credentials?.user
        return user == 0 || clients[key.client]?.credentials?.user == user
    }

    /// Ends a device's connections to all programs of the caller's user or, if the caller is root, to all programs.
    mutating func disconnect(_ device: Device, _ caller: Caller) throws(BlueZError) {
        let all = device.links + device.connecting.keys, keys = all.filter { mayEnd($0, caller) }
        guard !all.isEmpty else { return reply(to: caller) }
        guard !keys.isEmpty else { throw .notConnected }
        _ = devices.update(device.peer) { $0.ending.append(Device.Ending(caller: caller, keys: keys)) }
        for key in keys { request(key, .cancelConnection(device.peer)) }
    }
}

// Pairing at the request of a program.
extension BlueZBridge {
    /// Asks the daemon to pair with a device that the caller's session is connected to, unless the caller already does.
    private mutating func startPairing(_ caller: Caller, _ peer: PeerIdentifier) {
        guard devices[peer]?.pairing[caller.sender] == nil else { return refuse(caller, .inProgress) }
        do throws(BlueZError) { try check(SessionKey(caller.sender, .agent)) } catch { return refuse(caller, error) }
        _ = devices.update(peer) { $0.pairing[caller.sender] = caller }
        request(SessionKey(caller.sender, .agent), .security(.pair(peer)))
    }

    /// Answers a program's call to `Pair`; `error` is `nil` if the pairing succeeded.
    mutating func endPairing(_ name: String, _ peer: PeerIdentifier, _ error: BlueZError? = nil) {
        guard let caller = devices[peer]?.pairing[name] else { return }
        _ = devices.update(peer) { $0.pairing[name] = nil }
        if let error { refuse(caller, error) } else { reply(to: caller) }
        if !isAgentSessionNeeded(by: name) { close(SessionKey(name, .agent)) }
    }
}
