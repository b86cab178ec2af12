import BLEWire

extension VirtualController {
    /// Executes LE Set Extended Advertising Parameters; returns the status and the transmit power in dBm.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.53.
    mutating func setParameters(
        _ command: HCI.LESetExtendedAdvertisingParameters
    ) -> (status: HCI.Status, power: Int) {
        let existing = setIndex(command.set.wire)
        if let existing, sets[existing].isEnabled { return (.commandDisallowed, 0) }
        let properties = AdvertisingSet.Properties(rawValue: command.properties.rawValue)
        let hasInterval = command.minimum <= command.maximum || properties.contains(.highDutyCycle)
        guard hasInterval, Self.isPossible(properties), command.sid.wire <= 0x0F else {
            return (.invalidCommandParameters, 0)
        }
        let features = identity.profile.features
        guard let primary = AirPHY(phy: command.primaryPHY.wire), primary != .twoMegabit,
            let secondary = AirPHY(phy: command.secondaryPHY.wire)
        else { return (.invalidCommandParameters, 0) }
        let wanted = primary.bit | (properties.contains(.legacy) ? 0 : secondary.bit)
        guard wanted & ~Self.supportedPHYs(features) == 0 else { return (.unsupportedFeatureOrParameterValue, 0) }
        if properties.contains(.legacy), primary != .oneMegabit { return (.invalidCommandParameters, 0) }
        if let existing, Self.isTooMuch(sets[existing], for: properties) { return (.invalidCommandParameters, 0) }
        if existing == nil, sets.count >= Self.maximumSets { return (.memoryCapacityExceeded, 0) }
        var set = existing.map { sets[$0] } ?? AdvertisingSet(handle: command.set.wire)
        set.properties = properties
        set.setInterval(Int64(command.minimum.wire))
        set.channels = command.channels.wire
        set.ownAddressKind = command.ownAddress.rawValue
        set.peer = command.peer
        set.filterPolicy = command.policy.rawValue
        let power = command.power.dBm.map(Int.init) ?? identity.transmitPower
        set.power = min(max(power, Self.powers.lowerBound), Self.powers.upperBound)
        set.primary = primary
        set.secondary = secondary
        set.identifier = command.sid.wire
        set.notifiesScanRequests = command.reportsScanRequests
        if let existing { sets[existing] = set } else { sets.append(set) }
        return (.success, set.power)
    }

    /// Returns whether the specification allows this combination of properties.
    private static func isPossible(_ properties: AdvertisingSet.Properties) -> Bool {
        if properties.contains(.legacy) {
            let forms: [AdvertisingSet.Properties] = [
                [.legacy, .connectable, .scannable], [.legacy, .connectable, .directed],
                [.legacy, .connectable, .directed, .highDutyCycle], [.legacy, .scannable], [.legacy],
            ]
            return forms.contains(properties)
        }
        if properties.contains([.connectable, .scannable]) || properties.contains(.highDutyCycle) { return false }
        return !properties.contains(.anonymous) || properties.isDisjoint(with: [.connectable, .scannable])
    }

    /// Returns whether a set's data is too long for an advertisement with `properties`, or not allowed in one.
    private static func isTooMuch(_ set: AdvertisingSet, for properties: AdvertisingSet.Properties) -> Bool {
        if properties.contains(.legacy) { return max(set.data.count, set.scanResponse.count) > 31 }
        return properties.contains(.scannable) ? !set.data.isEmpty : !set.scanResponse.isEmpty
    }

    /// Executes LE Set Advertising Set Random Address; returns the status.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.52.
    mutating func setRandomAddress(_ command: HCI.LESetAdvertisingSetRandomAddress) -> HCI.Status {
        guard let index = setIndex(command.set.wire) else { return .unknownAdvertisingIdentifier }
        if sets[index].isEnabled, sets[index].properties.contains(.connectable) { return .commandDisallowed }
        sets[index].randomAddress = command.address
        return .success
    }

    /// Executes LE Set Extended Scan Response Data if `isScanResponse` is true, otherwise LE Set Extended Advertising
    /// Data; returns the status.
    ///
    /// `operation` says whether `data` is the complete data or a fragment, or whether the data stays unchanged.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.54 and 7.8.55.
    mutating func setData(
        _ data: [UInt8],
        _ operation: HCI.DataOperation,
        isScanResponse: Bool,
        handle: UInt8
    ) -> HCI.Status {
        guard let index = setIndex(handle) else { return .unknownAdvertisingIdentifier }
        let set = sets[index]
        let isLegacy = set.properties.contains(.legacy)
        let carries =
            isScanResponse
            ? set.properties.contains(.scannable)
            : !set.properties.contains(isLegacy ? .directed : .scannable)
        guard carries || data.isEmpty else { return .invalidCommandParameters }
        switch operation {
        case .unchanged:
            guard set.isEnabled, !isLegacy, !isScanResponse, !set.data.isEmpty, data.isEmpty else {
                return .invalidCommandParameters
            }
            sets[index].changeIdentifier()
        case .complete:
            guard data.count <= set.dataLimit else { return .invalidCommandParameters }
            if set.isEnabled, isScanResponse, !isLegacy, data.isEmpty, carries { return .commandDisallowed }
            if set.isEnabled, !isScanResponse, !set.fits(data) { return .packetTooLong }
            sets[index].replace(data, isScanResponse: isScanResponse)
        case .first, .intermediate, .last:
            guard !set.isEnabled else { return .commandDisallowed }
            guard !isLegacy, !data.isEmpty else { return .invalidCommandParameters }
            return assemble(data, operation, isScanResponse: isScanResponse, index)
        }
        return .success
    }

    private mutating func assemble(
        _ data: [UInt8],
        _ operation: HCI.DataOperation,
        isScanResponse: Bool,
        _ index: Int
    ) -> HCI.Status {
        var octets: [UInt8] = []
        if operation != .first {
            guard let assembly = sets[index].assembly, assembly.isScanResponse == isScanResponse else {
                return .commandDisallowed
            }
            octets = assembly.octets
        }
        octets += data
        guard octets.count <= Self.maximumAdvertisingData else {
            sets[index].replace([], isScanResponse: isScanResponse)
            return .memoryCapacityExceeded
        }
        if operation == .last {
            sets[index].replace(octets, isScanResponse: isScanResponse)
        } else {
            sets[index].assemble(octets, isScanResponse: isScanResponse)
        }
        return .success
    }
}
