package import BLEWire

/// A message from the host for logs, metrics and tests.
///
/// A note requires no action.
package enum Note: Equatable, Sendable {
    /// The place at which a packet was dropped.
    package enum Place: Equatable, Sendable {
        /// The transport, before the kind of packet was known.
        case transport
        case event
        case data(ConnectionHandle)
        case channel(ChannelIdentifier, ConnectionHandle)
        case advertisement(DeviceAddress)
    }

    /// The limit that was reached.
    package enum Limit: Equatable, Sendable {
        case links
        case pendingPeers
        case pendingPeersOfClient
        case knownPeers
        case bonds
        case queuedFrames(ConnectionHandle)
        case queuedCommands
        case queuedRequests(ConnectionHandle)
        case queuedIndications(ConnectionHandle)
        case queuedValues(ConnectionHandle)
        case queuedChannelOctets(ConnectionHandle)
        case acceptList
        case partialReports
    }

    /// The reason why a host cannot use a controller.
    package enum Refusal: Equatable, Sendable {
        case noLowEnergy
        case noBuffers
    }

    /// An invalid packet was dropped.
    case dropped(PacketError, Place)
    /// A packet for an unknown channel was ignored.
    case unknownChannel(ChannelIdentifier, ConnectionHandle)
    /// A packet, event or call was about a link that does not exist.
    case unknownLink(ConnectionHandle)
    /// A call was about a client that does not exist.
    case unknownClient(ClientID)
    /// The controller sent an event without a cause, or an event that the host has not enabled.
    case unexpectedEvent(HCI.EventCode)
    /// The controller answered a command that was not pending.
    case unexpectedAnswer(HCI.Opcode)
    case commandFailed(HCI.Opcode, HCI.Status)
    case commandTimedOut(HCI.Opcode)
    /// The controller accepted a command but did not complete it in time.
    case overdue(HCI.Opcode)
    case hardwareError(UInt8)
    /// The controller cannot be used.
    case controllerRefused(Refusal)
    /// The controller reported more completed fragments than the host had given it; only `counted` of them count.
    case creditsClamped(ConnectionHandle, claimed: Int, counted: Int)
    /// A connection attempt failed, and the host tries again.
    case establishmentFailed(DeviceAddress, HCI.Status)
    case linkLost(ConnectionHandle, HCI.Status)
    /// The host ended a link before all accepted data were sent, because sending took too long.
    case undelivered(ConnectionHandle)
    /// A link could not be encrypted with the key of a bond.
    case encryptionFailed(ConnectionHandle, HCI.Status)
    /// During pairing, a peer sent an identity address that it has not proved to be its own.
    case unprovedIdentity(DeviceAddress, ConnectionHandle)
    /// The controllers have not encrypted a link in time, so the host ends it.
    case encryptionOverdue(ConnectionHandle)
    /// A peer requested a pairing that no app needs, and no agent can ask the user.
    case pairingUnwanted(ConnectionHandle)
    /// A bond for which neither the user nor an app had asked was removed to make room for another bond.
    case bondEvicted(DeviceAddress)
    /// A pairing has not replaced the bond with its peer, because the bond is stronger or was made over another link
    /// after the pairing had begun.
    case bondNotReplaced(ConnectionHandle)
    case pairingFailed(ConnectionHandle, PairingFailure)
    /// The security manager of a link ignored a packet or an answer.
    case pairing(SecurityNote, ConnectionHandle)
    /// A response arrived for which no request is pending.
    case unexpectedResponse(ChannelIdentifier, ConnectionHandle)
    /// The peer did not respond to a signalling request.
    case signalTimedOut(ConnectionHandle)
    /// The peer rejected a signalling request.
    case signalRefused(ConnectionHandle)
    /// The peer violated a channel's protocol, so the channel is closed.
    case channelBroken(ChannelFault, ChannelIdentifier, ConnectionHandle)
    /// An ATT transaction timed out after 30 s.
    case transactionTimedOut(ConnectionHandle)
    /// A client made a request about a central that does not belong to the client, or that another app also uses.
    case foreignCentral(ClientID)
    /// A client made a request that sessions of its role may not make.
    case wrongRole(ClientID, ClientRole)
    /// A client answered a request that does not exist or was already answered.
    case answerWithoutRequest(ClientID)
    /// A client's write command is too long for a packet.
    case oversizedCommand(AttributeHandle, ConnectionHandle)
    /// A peer sent a notification or indication that no client has subscribed to.
    case unwantedValue(AttributeHandle, ConnectionHandle)
    /// A peer sent a value of more than 512 octets, which the host has cut to 512.
    case oversizedValue(AttributeHandle, ConnectionHandle)
    /// A peer's response about an attribute is inconsistent and was ignored or shortened.
    case implausibleAttribute(AttributeHandle, ConnectionHandle)
    /// A peer's write command was not permitted.
    case commandRefused(AttributeHandle, ATT.ErrorCode, ConnectionHandle)
    /// A peer's signed write could not be verified, because there is no key.
    case unverifiedWrite(ConnectionHandle)
    case limitReached(Limit)
}

extension Note: CustomStringConvertible {
    package var description: String {
        switch self {
        case .dropped(let error, let place): "dropped a packet \(place): \(error)"
        case .unknownChannel(let channel, let link):
            "ignored a packet on link \(link.wire): it has no channel \(channel)"
        case .unknownLink(let link): "ignored input for link \(link.wire), which does not exist"
        case .unknownClient(let client): "ignored a request of session \(client.rawValue), which does not exist"
        case .unexpectedEvent(let code): "ignored an unexpected event: \(code)"
        case .unexpectedAnswer(let opcode): "unexpected response to \(opcode)"
        case .commandFailed(let opcode, let status): "\(opcode) failed: \(status)"
        case .commandTimedOut(let opcode): "no response to \(opcode)"
        case .overdue(let opcode): "\(opcode) was accepted but not completed in time"
        case .hardwareError(let code): "the controller reports hardware error \(code)"
        case .controllerRefused(let reason): "the controller cannot be used: \(reason)"
        case .creditsClamped(let link, let claimed, let counted):
            "the controller reports more fragments sent on link \(link.wire) than it had: \(claimed), not \(counted)"
        case .establishmentFailed(let address, let status): "no connection to \(address) yet: \(status)"
        case .linkLost(let link, let status): "link \(link.wire) ended: \(status)"
        case .undelivered(let link): "link \(link.wire) ended before all queued data was sent"
        case .encryptionFailed(let link, let status): "link \(link.wire) is not encrypted: \(status)"
        case .unprovedIdentity(let address, let link):
            """
            the peer of link \(link.wire) claimed the identity address \(address) without proof; its bond does not \
            contain that address
            """
        case .encryptionOverdue(let link): "link \(link.wire) was not encrypted in time and was disconnected"
        case .pairingUnwanted(let link):
            "refused to pair on link \(link.wire): no app needs a pairing, and there is no agent to ask the user"
        case .bondEvicted(let address):
            "removed a bond to make room for another: \(address) had paired without a request from the user or an app"
        case .bondNotReplaced(let link):
            "kept the bond with the peer of link \(link.wire): it is stronger, or newer than the start of the pairing"
        case .pairingFailed(let link, let failure): "the pairing on link \(link.wire) failed: \(failure.words)"
        case .pairing(let note, let link): "the security manager of link \(link.wire) ignored \(note.words)"
        case .unexpectedResponse(let channel, let link):
            "unexpected response on channel \(channel) of link \(link.wire)"
        case .signalTimedOut(let link): "no response to a signal on link \(link.wire)"
        case .signalRefused(let link): "the peer of link \(link.wire) refused a signal"
        case .channelBroken(let fault, let channel, let link):
            "channel \(channel) of link \(link.wire) was closed: the peer sent \(fault)"
        case .transactionTimedOut(let link): "an ATT transaction on link \(link.wire) timed out"
        case .foreignCentral(let client):
            "refused a request of session \(client.rawValue): the central is not the session's, or other apps use it"
        case .wrongRole(let client, let role):
            "refused a request of session \(client.rawValue): it does not fit the session's role, \(role)"
        case .answerWithoutRequest(let client):
            "ignored a response of session \(client.rawValue): no request is waiting for it"
        case .oversizedCommand(let handle, let link):
            "dropped a write command for \(handle): it is too long for link \(link.wire)"
        case .unwantedValue(let handle, let link):
            "ignored a value of \(handle) on link \(link.wire): no app has subscribed to it"
        case .oversizedValue(let handle, let link): "truncated a value of \(handle) on link \(link.wire) to 512 octets"
        case .implausibleAttribute(let handle, let link):
            "the peer of link \(link.wire) sent contradictory data about its attribute \(handle)"
        case .commandRefused(let handle, let code, let link):
            "ignored a write command for \(handle) on link \(link.wire): \(code)"
        case .unverifiedWrite(let link): "ignored a signed write on link \(link.wire): there is no key to verify it"
        case .limitReached(let limit): "limit reached: \(limit)"
        }
    }
}

extension SecurityNote {
    /// The ignored packet or answer, as a phrase.
    fileprivate var words: String {
        switch self {
        case .malformed(let error): "an invalid packet (\(error))"
        case .unexpected(let opcode): "an unexpected packet (\(opcode))"
        case .unsolicitedReply: "an answer from the user: no question is open"
        }
    }
}

extension PairingFailure {
    /// The reason for the failure, as a phrase.
    fileprivate var words: String {
        switch self {
        case .refused(let reason): "this host refused it (\(reason))"
        case .refusedByPeer(let reason): "the peer refused it (\(reason))"
        case .timedOut: "it timed out"
        case .encryptionFailed: "the link could not be encrypted with the new key"
        case .disconnected: "the link ended"
        case .tooSoon: "it began too soon after failed attempts"
        case .cannotAuthenticate: "this host has no display, keyboard or out-of-band data to authenticate the key"
        case .noAgent: "there is no agent to ask the user, and the policy requires one"
        }
    }
}

extension Note.Place: CustomStringConvertible {
    package var description: String {
        switch self {
        case .transport: "from the controller"
        case .event: "with an event"
        case .data(let link): "with data of link \(link.wire)"
        case .channel(let channel, let link): "on channel \(channel) of link \(link.wire)"
        case .advertisement(let address): "advertised by \(address)"
        }
    }
}

extension Note.Refusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noLowEnergy: "it does not support Bluetooth LE"
        case .noBuffers: "it has no data buffers"
        }
    }
}

extension Note.Limit: CustomStringConvertible {
    package var description: String {
        switch self {
        case .links: "links"
        case .pendingPeers: "peers to connect to"
        case .pendingPeersOfClient: "peers that one session connects to"
        case .knownPeers: "known peers, all of them bonded"
        case .bonds: "bonds; remove one to make room (“ble bonds remove”)"
        case .queuedFrames(let link): "packets waiting on link \(link.wire)"
        case .queuedCommands: "commands waiting"
        case .queuedRequests(let link): "requests waiting on link \(link.wire)"
        case .queuedIndications(let link): "indications waiting on link \(link.wire)"
        case .queuedValues(let link): "values of one session waiting on link \(link.wire)"
        case .queuedChannelOctets(let link): "octets waiting on a channel of link \(link.wire)"
        case .acceptList: "peers in the controller's accept list"
        case .partialReports: "incomplete advertisements"
        }
    }
}
