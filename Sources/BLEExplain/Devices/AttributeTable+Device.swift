import BLEWire

extension AttributeTable {
    /// Returns the device that has these attributes; `advertisement` is `nil` if the capture contains none from the
    /// device.
    func device(advertising advertisement: CapturedDevice.Advertisement?) -> CapturedDevice {
        let permanent = identity.flatMap { $0.isIdentity ? $0 : nil }
        var device = CapturedDevice(address: address, identity: permanent, isHost: isHost)
        let replies = Replies(transfers, of: attributes)
        (device.mtu, device.advertisement) = (mtu, advertisement)
        let groups = groups
        device.services = groups.map { service($0, of: groups, replies) }
        device.variableAnswers = replies.variable
        let name = device.services.first { $0.uuid == .short(0x1800) }?.characteristics
            .first { $0.uuid == .short(0x2A00) }?.value.map { String(decoding: $0, as: UTF8.self) }
        let packets = advertisement.map { AdvertisementOctets(advertisement: $0.data, scanResponse: $0.scanResponse) }
        device.name = name ?? packets.flatMap { MergedAdvertisement($0).localName }
        return device
    }

    /// The types of the attributes that declare services, includes and characteristics.
    private static let declarationTypes = (0x2800...0x2803).map { BluetoothUUID.short($0) }

    /// The discovered services, and the included services that were not discovered themselves.
    private var groups: [Group] {
        var groups = services
        for (_, value) in inclusions where value.count >= 4 {
            let start = UInt16(value[0]) | UInt16(value[1]) << 8, end = UInt16(value[2]) | UInt16(value[3]) << 8
            // A declaration contains only short UUIDs; clients read longer ones from the declaration of the included
            // service.
            let read = attributes.first { $0.handle == start }?.value
            guard let uuid = BluetoothUUID(octets: value[4...]) ?? read.flatMap({ BluetoothUUID(octets: $0[...]) })
            else { continue }
            Self.insert(Group(start: start, end: end, uuid: uuid, isPrimary: false), into: &groups)
        }
        return groups
    }

    private func service(_ group: Group, of groups: [Group], _ replies: Replies) -> CapturedDevice.Service {
        var service = CapturedDevice.Service(
            uuid: group.uuid,
            isPrimary: group.isPrimary,
            handle: group.start,
            end: group.end
        )
        let range = group.start...group.end
        for inclusion in inclusions where range.contains(inclusion.handle) && inclusion.value.count >= 4 {
            let start = UInt16(inclusion.value[0]) | UInt16(inclusion.value[1]) << 8
            if let part = groups.first(where: { $0.start == start }) { service.includes.append(part.uuid) }
        }
        let own = declarations.filter { range.contains($0.handle) }
        for (index, declaration) in own.enumerated() {
            let next = index + 1 < own.count ? own[index + 1].handle : nil
            if let characteristic = characteristic(declaration.value, upTo: next.map { $0 &- 1 } ?? group.end, replies)
            {
                service.characteristics.append(characteristic)
            }
        }
        return service
    }

    private func characteristic(
        _ declaration: [UInt8],
        upTo end: UInt16,
        _ replies: Replies
    ) -> CapturedDevice.Characteristic? {
        guard declaration.count >= 5, let uuid = BluetoothUUID(octets: declaration[3...]) else { return nil }
        let handle = UInt16(declaration[1]) | UInt16(declaration[2]) << 8
        var characteristic = CapturedDevice.Characteristic(uuid: uuid, properties: declaration[0], handle: handle)
        let attribute = attributes.first { $0.handle == handle }
        characteristic.value = attribute?.value
        characteristic.isProtected = attribute?.isProtected ?? false
        characteristic.notifications = replies.notifications(of: handle)
        characteristic.answers = replies.answers(to: handle) { sent in
            self.declarations.first { $0.value.count >= 5 && UInt16($0.value[1]) | UInt16($0.value[2]) << 8 == sent }
                .flatMap { BluetoothUUID(octets: $0.value[3...]) }
        }
        for descriptor in attributes where descriptor.handle > handle && descriptor.handle <= end {
            guard let type = descriptor.type, !Self.declarationTypes.contains(type) else { continue }
            if descriptor.isProtected { characteristic.isProtected = true }
            // The properties imply these: Extended Properties, Client and Server Characteristic Configuration.
            if [.short(0x2900), .short(0x2902), .short(0x2903)].contains(type) { continue }
            characteristic.descriptors.append(.init(uuid: type, handle: descriptor.handle, value: descriptor.value))
        }
        return characteristic
    }
}
