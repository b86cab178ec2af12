import BLEController
import BLEHost
import BLEWire

// The user of a device, who takes part in its pairings.
extension ScriptedDevice {
    /// The request that makes the host ask the device about each pairing, or stop asking.
    ///
    /// The host asks if the description says how the device pairs, or if the device refuses pairing.
    var agentRequest: ClientRequest {
        let capability = peripheral.pairing?.capability.wire ?? (behaviour.refusesPairing ? .displayYesNo : nil)
        return .security(.setAgent(capability))
    }

    /// Makes the device refuse pairing from now on, or lets the host accept pairing again.
    mutating func refusePairing(_ isRefusing: Bool) -> [ClientRequest] {
        behaviour.refusesPairing = isRefusing
        return [agentRequest]
    }

    /// Returns the request that starts the removal of all bonds.
    mutating func forgetBonds() -> [ClientRequest] {
        behaviour.forgetsBonds = true
        return [.security(.listBonds)]
    }

    /// Processes an event about pairing, and returns the resulting requests.
    mutating func receive(_ event: SecurityEvent) -> [ClientRequest] {
        switch event {
        case .asked(let inquiry): return answer(inquiry).map { [.security(.answer(inquiry.peer, $0))] } ?? []
        case .withdrawn(let peer), .paired(let peer, _, _), .failed(let peer, _):
            if passkeyDisplay == peer { passkeyDisplay = nil }
            return []
        case .bonds(let bonds):
            guard behaviour.forgetsBonds else { return [] }
            behaviour.forgetsBonds = false
            return bonds.map { .security(.removeBond($0.peer)) }
        case .secured, .outOfBandDataMade: return []
        }
    }

    /// Returns the user's answer; `nil` if there is none, or if the user must first read the passkey from the central's
    /// display.
    private mutating func answer(_ inquiry: PairingInquiry) -> PairingReply? {
        if behaviour.refusesPairing { return .cancel }
        switch inquiry.question {
        case .consent, .compare: return .confirm(true)
        case .display: return nil
        case .enterPasskey:
            if let passkey = peripheral.pairing?.passkey { return .passkey(UInt32(clamping: passkey)) }
            passkeyDisplay = inquiry.peer
            return nil
        }
    }
}

extension WorldCore {
    /// Records which passkey a machine displays.
    mutating func noteDisplayedPasskey(_ event: SecurityEvent, to client: ClientID) {
        guard let index = station(of: client) else { return }
        switch event {
        case .asked(let inquiry):
            guard case .display(let passkey) = inquiry.question else { return }
            stations[index].displayedPasskeys.append((client, inquiry.peer, passkey))
        case .withdrawn(let peer), .paired(let peer, _, _), .failed(let peer, _):
            stations[index].displayedPasskeys.removeAll { $0.peer == peer }
        case .secured, .bonds, .outOfBandDataMade: break
        }
    }

    /// Enters the passkeys that the users of devices can read from the displays of connected centrals.
    mutating func enterDisplayedPasskeys() {
        for place in devices.indices {
            guard let peer = devices[place].passkeyDisplay,
                let passkey = passkeyDisplayed(for: devices[place].station)
            else { continue }
            devices[place].passkeyDisplay = nil
            perform(.security(.answer(peer, .passkey(passkey))), for: devices[place].client)
        }
    }

    /// Returns the passkey that a connected machine displays for its pairing with the machine at `index`; `nil` if
    /// there is none.
    private func passkeyDisplayed(for index: Int) -> UInt32? {
        guard let own = stations[index].controller else { return nil }
        let address = stations[index].address
        for station in stations where !station.displayedPasskeys.isEmpty && station !== stations[index] {
            guard let peer = station.peers.identifier(at: address),
                let shown = station.displayedPasskeys.last(where: { $0.peer == peer }),
                let other = station.controller, air.areConnected(own, other)
            else { continue }
            return shown.passkey
        }
        return nil
    }
}
