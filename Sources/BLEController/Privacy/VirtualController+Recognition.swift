import BLEWire

/// The addresses of a received advertisement, as reported to the host.
struct Recognition: Equatable, Sendable {
    /// Its kind tells whether it was resolved or missing.
    let advertiser: DeviceAddress
    /// The target of a directed advertisement.
    let target: DeviceAddress?
}

extension VirtualController {
    private enum Target {
        /// This controller, by the address that its host set.
        case identity(DeviceAddress)
        /// This controller, by a private address for the address that its host set.
        case resolved(DeviceAddress)
        /// A private address that no local key generated.
        case unresolved(DeviceAddress)
        case another
    }

    private func meaning(of target: DeviceAddress, _ ownKind: UInt8) -> Target {
        let own = identityAddress(ownKind)
        if target == own { return .identity(target) }
        guard target.isResolvable else { return .another }
        return resolvingList.isOwn(target) ? .resolved((own ?? identity.address).resolved) : .unresolved(target)
    }

    /// Returns the scanner's view of an advertiser; `nil` if it ignores it.
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

    /// Returns the address that the initiator connects to; `nil` if it ignores the advertiser.
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

    /// Returns the address of the scanner that an advertiser responds to; `nil` if it does not.
    ///
    /// Core 6.0, Vol 6, Part B, 4.3.2 and 6.2.
    mutating func answersScan(of set: AdvertisingSet, from address: DeviceAddress) -> DeviceAddress? {
        guard let scanner = resolvingList.recognize(address) else { return nil }
        if set.properties.contains(.directed) { return set.isFor(scanner, address) ? scanner : nil }
        return set.filterPolicy & 1 == 0 || acceptList.contains(scanner.onAir) ? scanner : nil
    }

    /// Returns whether an advertiser accepts an initiator's connection.
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
    /// Returns whether a directed set targets the peer that was received with `address`.
    fileprivate func isFor(_ recognized: DeviceAddress, _ address: DeviceAddress) -> Bool {
        peer.onAir == recognized.onAir || peer.onAir == address
    }
}

extension DeviceAddress {
    /// The form of the address on the filter accept list.
    fileprivate var listed: Self { kind == .anonymous ? self : onAir }
}
