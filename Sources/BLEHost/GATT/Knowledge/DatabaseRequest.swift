import BLEWire

/// One request for an aspect of a peer's attributes, and what its answer teaches.
///
/// An answer is believed as far as it makes sense: entries in the range that was asked for, one behind the other.
struct DatabaseRequest: Sendable {
    typealias Aspect = KnownAttributes.Aspect

    let aspect: Aspect
    /// What is asked for.
    let range: AttributeHandleRange
    /// What somebody waits for; the rest is read ahead.
    let wanted: AttributeHandleRange

    init(_ aspect: Aspect, range: AttributeHandleRange, wanted: AttributeHandleRange) {
        self.aspect = aspect
        self.range = range
        self.wanted = wanted
    }

    /// Whether less could be asked for; services are asked for as a whole.
    var canBeNarrowed: Bool { aspect != .services && wanted.end < range.end }

    var packet: ATTPacket {
        switch aspect {
        case .services: .readByGroupTypeRequest(.init(range, groupType: GATT.primaryService))
        case .includes: .readByTypeRequest(.init(range, type: GATT.include))
        case .characteristics: .readByTypeRequest(.init(range, type: GATT.characteristic))
        case .types: .findInformationRequest(.init(range))
        }
    }

    enum OnAnswer: Equatable {
        case learnt
        case refused(ATT.ErrorCode)
        /// From some point on the answer makes no sense; what came before has been learnt.
        case contradicted
    }

    /// Takes the answer, on a bearer whose packets have at most `mtu` octets.
    func learn(_ answer: ATTAnswer, into database: inout PeerDatabase, mtu: Int) -> OnAnswer {
        switch (answer, aspect) {
        case (.failure(.attributeNotFound), _):
            database.learnAbsence(of: aspect, in: range)
            return .learnt
        case (.failure(let code), _): return .refused(code)
        case (.success(.readByGroupTypeResponse(let response)), .services):
            return learn(services: response.entries, into: &database)
        case (.success(.readByTypeResponse(let response)), .includes):
            return learn(includes: response.entries, into: &database)
        case (.success(.readByTypeResponse(let response)), .characteristics):
            return learn(declarations: response.entries, into: &database, mtu: mtu)
        case (.success(.findInformationResponse(let response)), .types):
            return learn(types: response.entries, into: &database)
        case (.success, _): return .contradicted
        }
    }

    private func learn(
        services entries: [ATT.ReadByGroupTypeResponse.Entry],
        into database: inout PeerDatabase
    ) -> OnAnswer {
        var found: [DiscoveredService] = [], rest: AttributeHandleRange? = range
        for entry in entries {
            guard let service = entry.range, let uuid = BluetoothUUID(attributeValue: entry.value),
                let room = rest, room.contains(service.start)
            else { break }
            found.append(DiscoveredService(uuid: uuid, range: service, isPrimary: true))
            rest = room.after(service.end)
        }
        if let end = found.last?.range.end, let learnt = AttributeHandleRange(range.start, end) {
            database.learn(services: found, in: learnt)
        }
        return found.count == entries.count ? .learnt : .contradicted
    }

    private func learn(
        includes entries: [ATT.ReadByTypeResponse.Entry],
        into database: inout PeerDatabase
    ) -> OnAnswer {
        var found: [KnownAttributes.Include] = [], rest: AttributeHandleRange? = range
        for entry in entries {
            guard entry.value.count == 4 || entry.value.count == 6, let room = rest, room.contains(entry.handle),
                let service = AttributeHandleRange(entry.value.handle(at: 0), entry.value.handle(at: 2))
            else { break }
            let uuid = BluetoothUUID(attributeValue: entry.value.dropFirst(4))
            found.append(.init(handle: entry.handle, range: service, uuid: uuid))
            rest = room.after(entry.handle)
        }
        if let end = found.last?.handle, let learnt = AttributeHandleRange(range.start, end) {
            database.learn(includes: found, in: learnt)
        }
        return found.count == entries.count ? .learnt : .contradicted
    }

    private func learn(
        declarations entries: [ATT.ReadByTypeResponse.Entry],
        into database: inout PeerDatabase,
        mtu: Int
    ) -> OnAnswer {
        var found: [KnownAttributes.Declaration] = [], rest: AttributeHandleRange? = range
        for entry in entries {
            guard entry.value.count >= 3, let uuid = BluetoothUUID(attributeValue: entry.value.dropFirst(3)),
                let room = rest, room.contains(entry.handle)
            else { break }
            let value = entry.value.handle(at: 1)
            guard entry.handle < value, value <= database.attributes.end(around: entry.handle) else { break }
            found.append(.init(handle: entry.handle, properties: entry.value[0], value: value, uuid: uuid))
            rest = room.after(value)
        }
        if let end = found.last?.handle, let learnt = AttributeHandleRange(range.start, end) {
            let length = 2 + (entries.first?.value.count ?? 0)
            database.learn(declarations: found, in: learnt, isFull: (entries.count + 1) * length > mtu - 2)
        }
        return found.count == entries.count ? .learnt : .contradicted
    }

    private func learn(
        types entries: [ATT.FindInformationResponse.Entry],
        into database: inout PeerDatabase
    ) -> OnAnswer {
        var found: [DiscoveredDescriptor] = [], rest: AttributeHandleRange? = range
        for entry in entries {
            guard let room = rest, room.contains(entry.handle) else { break }
            found.append(DiscoveredDescriptor(uuid: entry.type, handle: entry.handle))
            rest = room.after(entry.handle)
        }
        if let end = found.last?.handle, let learnt = AttributeHandleRange(range.start, end) {
            database.learn(types: found, in: learnt)
        }
        return found.count == entries.count ? .learnt : .contradicted
    }
}
