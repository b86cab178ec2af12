import BLEWire

/// What a receiver makes of an advertisement: the addresses as its host gets to see them.
struct Recognition: Equatable, Sendable {
    /// Of a kind that says so if it was resolved, or that there was none.
    let advertiser: DeviceAddress
    /// Whom a directed advertisement is for.
    let target: DeviceAddress?
}

extension VirtualController {
    private enum Target {
        /// This board, under the address that its host gave it.
        case identity(DeviceAddress)
        /// This board, under a private address that stands for the address that its host gave it.
        case resolved(DeviceAddress)
        /// A private address that nobody here made.
        case unresolved(DeviceAddress)
        case another
    }

    private func meaning(of target: DeviceAddress, _ ownKind: UInt8) -> Target {
        let own = identityAddress(ownKind)
        if target == own { return .identity(target) }
        guard target.isResolvable else { return .another }
        return resolvingList.isOwn(target) ? .resolved((own ?? identity.address).resolved) : .unresolved(target)
    }

    /// What the scanner makes of an advertiser; `nil` if it takes no notice.
    ///
    /// Core 6.0, Vol 6, Part B, 4.3.3 and 6.3.
    mutating func accepts(_ address: DeviceAddress?, target: DeviceAddress?) -> Recognition? {
        guard let advertiser = resolvingList.recognize(address ?? DeviceAddress(0, .anonymous)),
            !scanner.usesAcceptList || acceptList.contains(advertiser.listed)
        else { return nil }
        guard let target else { return Recognition(advertiser: advertiser, target: nil) }
        switch meaning(of: target, scanner.ownAddressKind) {
        case .identity(let own), .resolved(let own): return Recognition(advertiser: advertiser, target: own)
        case .unresolved(let target) where scanner.takesUnresolved:
            return Recognition(advertiser: advertiser, target: DeviceAddress(target.value, .unresolved))
        case .unresolved, .another: return nil
        }
    }

    /// Whom the initiator connects to if it wants an advertiser; `nil` if it does not.
    ///
    /// Core 6.0, Vol 6, Part B, 4.3.4 and 6.4.
    mutating func wants(_ address: DeviceAddress?, target: DeviceAddress?) -> DeviceAddress? {
        guard let initiator, let address, let peer = resolvingList.recognize(address) else { return nil }
        guard !isConnected(identityAddress(initiator.ownAddressKind), to: peer.onAir) else { return nil }
        if let target {
            switch meaning(of: target, initiator.ownAddressKind) {
            case .resolved: break
            // Who is private answers nobody that calls it by its identity.
            case .identity:
                guard initiator.ownAddressKind & 2 == 0 || !resolvingList.hasLocalKey(for: peer.onAir) else {
                    return nil
                }
            case .unresolved, .another: return nil
            }
        }
        let isWanted =
            switch initiator.target {
            case .address(let wanted): wanted.onAir == peer.onAir || wanted.onAir == address
            case .acceptList: acceptList.contains(peer.onAir)
            }
        return isWanted ? peer : nil
    }

    /// Who asks an advertiser for its scan response; `nil` if it does not answer.
    ///
    /// Core 6.0, Vol 6, Part B, 4.3.2 and 6.2.
    mutating func answersScan(of set: AdvertisingSet, from address: DeviceAddress) -> DeviceAddress? {
        guard let scanner = resolvingList.recognize(address) else { return nil }
        if set.properties.contains(.directed) { return set.isFor(scanner, address) ? scanner : nil }
        return set.filterPolicy & 1 == 0 || acceptList.contains(scanner.onAir) ? scanner : nil
    }

    /// Whether an advertiser lets an initiator connect.
    ///
    /// Core 6.0, Vol 6, Part B, 4.3.2 and 6.2.
    mutating func allowsConnection(to set: AdvertisingSet, from address: DeviceAddress) -> Bool {
        guard connections.count < Self.maximumConnections, let initiator = resolvingList.recognize(address),
            !isConnected(identityAddress(of: set), to: initiator.onAir)
        else { return false }
        if set.properties.contains(.directed) { return set.isFor(initiator, address) }
        return set.filterPolicy & 2 == 0 || acceptList.contains(initiator.onAir)
    }
}

extension AdvertisingSet {
    /// Whether a directed set is for a peer that was heard under `address`.
    fileprivate func isFor(_ recognized: DeviceAddress, _ address: DeviceAddress) -> Bool {
        peer.onAir == recognized.onAir || peer.onAir == address
    }
}

extension DeviceAddress {
    /// The address as the accept list has it.
    fileprivate var listed: Self { kind == .anonymous ? self : onAir }
}
