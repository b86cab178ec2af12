import BLEWire

/// The addresses of a received advertisement, as the controller reports them to its host.
struct Recognition: Equatable, Sendable {
    /// The advertiser's address.
    ///
    /// Its kind says whether the controller resolved it; it is anonymous if the advertisement contains no address.
    let advertiser: DeviceAddress
    /// The target of a directed advertisement; `nil` if the advertisement is not directed.
    let target: DeviceAddress?
}

extension VirtualController {
    private enum Target {
        /// This controller, addressed by the public or random address that its host set.
        case identity(DeviceAddress)
        /// This controller, addressed by a private address; the value is the address that its host set, marked as
        /// resolved.
        case resolved(DeviceAddress)
        /// A private address that was not generated with a local key.
        case unresolved(DeviceAddress)
        case another
    }

    private func meaning(of target: DeviceAddress, _ ownKind: UInt8) -> Target {
        let own = identityAddress(ownKind)
        if target == own { return .identity(target) }
        guard target.isResolvable else { return .another }
        return resolvingList.isOwn(target) ? .resolved((own ?? identity.address).resolved) : .unresolved(target)
    }

    /// Returns the addresses of an advertiser and its target as the scanner reports them; `nil` if the scanner ignores
    /// the advertiser.
    ///
    /// Core 6.0, Vol 6, Part B, 4.3.3 and 6.3.
    mutating func recognizeForScanner(_ address: DeviceAddress?, target: DeviceAddress?) -> Recognition? {
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

    /// Returns the advertiser's address if the initiator connects to this advertiser; `nil` if the initiator ignores
    /// it, or if the controller has the maximum number of connections.
    ///
    /// Core 6.0, Vol 6, Part B, 4.3.4 and 6.4.
    mutating func recognizeForInitiator(_ address: DeviceAddress?, target: DeviceAddress?) -> DeviceAddress? {
        guard !isFull, let initiator, let address, let peer = resolvingList.recognize(address) else { return nil }
        guard !isConnected(identityAddress(initiator.ownAddressKind), to: peer.onAir) else { return nil }
        if let target {
            switch meaning(of: target, initiator.ownAddressKind) {
            case .resolved: break
            // An initiator with a private address ignores a directed advertisement to its identity address.
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

    /// Returns a scanner's address, resolved if possible; `nil` if the advertiser does not answer the scan request.
    ///
    /// Core 6.0, Vol 6, Part B, 4.3.2 and 6.2.
    mutating func answersScan(of set: AdvertisingSet, from address: DeviceAddress) -> DeviceAddress? {
        guard let scanner = resolvingList.recognize(address) else { return nil }
        if set.properties.contains(.directed) { return set.isFor(scanner, address) ? scanner : nil }
        return set.filterPolicy & 1 == 0 || acceptList.contains(scanner.onAir) ? scanner : nil
    }

    /// Returns whether an advertiser accepts a connection request from an initiator.
    ///
    /// Core 6.0, Vol 6, Part B, 4.3.2 and 6.2.
    mutating func allowsConnection(to set: AdvertisingSet, from address: DeviceAddress) -> Bool {
        guard !isFull, let initiator = resolvingList.recognize(address),
            !isConnected(identityAddress(of: set), to: initiator.onAir)
        else { return false }
        if set.properties.contains(.directed) { return set.isFor(initiator, address) }
        return set.filterPolicy & 2 == 0 || acceptList.contains(initiator.onAir)
    }
}

extension AdvertisingSet {
    /// Returns whether a directed set is aimed at the device that sent `address` as its over-the-air address.
    ///
    /// `recognized` is the address that the resolving list returns for `address`.
    fileprivate func isFor(_ recognized: DeviceAddress, _ address: DeviceAddress) -> Bool {
        peer.onAir == recognized.onAir || peer.onAir == address
    }
}

extension DeviceAddress {
    /// This address in the form of a filter accept list entry, which does not show whether the controller resolved it.
    fileprivate var listed: Self { kind == .anonymous ? self : onAir }
}
