import BLEHost
import BLERuntime
import BLESimulation
public import CoreBluetooth
public import Dispatch

/// An object that receives pairing prompts, pairs on demand, and lists and removes bonds.
///
/// Core Bluetooth has no call to pair: if a device refuses a request because the link is not encrypted, the host pairs
/// and repeats the request. If no object receives prompts, the host pairs whenever an app needs it (see
/// ``UnattendedPairing``), without protection against a man in the middle.
///
///     let pairing = BluetoothPairing(capability: .displayYesNo) { event in
///         if case .asked(let prompt) = event { prompt.accept() }
///     }
///
/// If there are several objects, the latest one receives the prompts, until it is released. If apps of several users
/// share a radio through the daemon, an app receives prompts only about the devices of its own user's apps, and lists
/// and removes only the bonds of its own user. Root, the daemon's user and the administrators that its policy names
/// have no such limit.
public final class BluetoothPairing: Sendable {
    /// An event about a pairing.
    ///
    /// The handler receives events on its queue, in the order in which they occur.
    public enum Event: Sendable {
        /// A question about a pairing, for the user.
        case asked(PairingPrompt)
        /// The prompt about this device no longer needs an answer.
        case withdrawn(UUID)
        /// This host and a device have paired; `isBonded` is true if the keys were stored.
        case paired(UUID, PairingMethod, isBonded: Bool)
        /// Pairing with a device has failed.
        case failed(UUID, PairingError)
    }

    private let session: any HostSession
    private let questions: PendingPairingCalls

    /// Creates an object that receives events and, unless `capability` is `nil`, pairing prompts.
    ///
    /// - Parameters:
    ///   - capability: The app's means of showing something to the user and asking questions; `nil` to receive no
    ///     prompts.
    ///   - queue: The queue for `handler`; `nil` for a private queue.
    ///   - handler: Called with every event.
    public init(
        capability: PairingCapability? = nil,
        queue: DispatchQueue? = nil,
        handler: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        let appQueue = queue ?? DispatchQueue(label: "CoreBluetooth.pairing")
        let queue = DispatchQueue(label: "CoreBluetooth", target: appQueue)
        queue.setSpecific(key: Bluetooth.appQueue, value: appQueue)
        let questions = PendingPairingCalls()
        self.questions = questions
        let own = Locked<(any HostSession)?>(nil)
        let prompts = Locked(OpenPrompts())
        queue.suspend()
        session = DefaultLink.current.open(.agent, on: queue) { event in
            if case .stateChanged(let state) = event {
                questions.stateChanged(state)
                for peer in prompts.withLock({ $0.stateChanged(state) }) { handler(.withdrawn(UUID(peer))) }
            }
            guard case .security(let event) = event else { return }
            questions.receive(event)
            prompts.withLock { $0.receive(event) }
            guard let session = own.withLock(\.self), let event = Event(event, session: session) else { return }
            handler(event)
        }
        own.withLock { [session] in $0 = session }
        queue.resume()
        if let capability { session.send(.security(.setAgent(capability.wire))) }
    }

    deinit {
        questions.giveUp()
        session.close()
    }

    /// Returns all bonds of this host, most recently used last.
    ///
    /// - Throws: ``PairingError/unsupported`` if Bluetooth is not available, or `CancellationError`.
    public func bonds() async throws -> [Bond] {
        try await questions.list { session.send(.security(.listBonds)) }
    }

    /// Removes the bond with a device and ends the connection to it.
    ///
    /// The device is not informed. At the next connection, the device refuses the link, or drops its bond as well.
    ///
    /// - Returns: The remaining bonds.
    /// - Throws: ``PairingError/unsupported`` if Bluetooth is not available, or `CancellationError`.
    @discardableResult
    public func removeBond(with identifier: UUID) async throws -> [Bond] {
        try await questions.list { session.send(.security(.removeBond(PeerIdentifier(identifier)))) }
    }

    /// Pairs with a connected device.
    ///
    /// - Returns: The method with which the devices authenticated each other.
    /// - Throws: ``PairingError``, or `CancellationError`.
    @discardableResult
    public func pair(with peer: CBPeer) async throws -> PairingMethod {
        let identifier = PeerIdentifier(peer.identifier)
        return try await questions.pair(with: identifier) { session.send(.security(.pair(identifier))) }
    }

    /// Applies `policy` as long as this object is retained.
    ///
    /// The host refuses pairings that do not meet the policy, and does not use bonds that do not meet it.
    ///
    /// A device whose bond is insufficient must pair again. Connections that are already encrypted are not affected. If
    /// there are several policies, the strictest requirement applies in each respect.
    ///
    /// If apps share a radio through the daemon, a policy applies only to the connections of this app. The keys of a
    /// device that another app is also connected to are stored even if the policy says not to store keys.
    ///
    /// - Parameters:
    ///   - policy: The requirements.
    ///   - allApps: True to apply the policy to all apps that share the radio. Only administrators may do that: root,
    ///     the user of the daemon, and apps that the daemon's policy names. The daemon refuses such a policy from any
    ///     other app, and logs the refusal.
    public func insist(on policy: PairingPolicy, forAllApps allApps: Bool = false) {
        session.send(.security(.setPolicy(policy.wire, everywhere: allApps)))
    }

    /// Generates this host's out-of-band data, for pairing with man-in-the-middle protection.
    ///
    /// The app must transfer the data to the device by means other than Bluetooth, such as NFC or a printed code.
    ///
    /// The data is valid for one pairing, and replaces any earlier data.
    ///
    /// - Throws: ``PairingError/unsupported`` if Bluetooth is not available, or `CancellationError`.
    public func makeOutOfBandData() async throws -> OutOfBandData {
        try await questions.data { session.send(.security(.makeOutOfBandData)) }
    }

    /// Uses a device's out-of-band data in the next pairing with it.
    ///
    /// - Parameters:
    ///   - data: The data from the peer; `nil` to remove it.
    ///   - peer: The device.
    public func use(_ data: OutOfBandData?, from peer: CBPeer) {
        session.send(.security(.takeOutOfBandData(data?.deviceData, from: PeerIdentifier(peer.identifier))))
    }

    /// Makes the next pairing a legacy pairing with a temporary key that both devices know.
    ///
    /// This is for devices older than Bluetooth 4.2; ``use(_:from:)`` is more secure. Such a pairing does not replace a
    /// bond that was made with LE Secure Connections.
    ///
    /// - Parameters:
    ///   - key: The key; `nil` to remove it.
    ///   - peer: The device; `nil` for the next device that pairs, because a peripheral does not know in advance which
    ///     one it will be.
    public func use(_ key: TemporaryKey?, with peer: CBPeer? = nil) {
        session.send(.security(.takeTemporaryKey(key?.key, with: peer.map { PeerIdentifier($0.identifier) })))
    }
}

/// The devices with an open prompt: one that the app has received and that still needs an answer.
private struct OpenPrompts {
    private var peers: [PeerIdentifier] = []

    mutating func receive(_ event: SecurityEvent) {
        switch event {
        case .asked(let inquiry): if !peers.contains(inquiry.peer) { peers.append(inquiry.peer) }
        case .withdrawn(let peer), .paired(let peer, _, _), .failed(let peer, _): peers.removeAll { $0 == peer }
        case .secured, .bonds, .outOfBandDataMade: break
        }
    }

    /// Removes and returns the devices whose prompts no longer need an answer, because the host has ended.
    mutating func stateChanged(_ state: HostState) -> [PeerIdentifier] {
        switch state {
        case .resetting, .unsupported, .unauthorized:
            defer { peers = [] }
            return peers
        case .unknown, .poweredOff, .poweredOn: return []
        }
    }
}

extension BluetoothPairing.Event {
    /// Converts a host event; returns `nil` if the event only answers a waiting call.
    fileprivate init?(_ event: SecurityEvent, session: any HostSession) {
        switch event {
        case .asked(let inquiry): self = .asked(PairingPrompt(inquiry, session: session))
        case .withdrawn(let peer): self = .withdrawn(UUID(peer))
        case .paired(let peer, let method, let isBonded):
            self = .paired(UUID(peer), PairingMethod(method), isBonded: isBonded)
        case .failed(let peer, let failure): self = .failed(UUID(peer), PairingError(failure))
        case .secured, .bonds, .outOfBandDataMade: return nil
        }
    }
}
