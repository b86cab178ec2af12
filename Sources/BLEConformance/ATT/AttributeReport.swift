import BLEHost
import BLEWire

/// The JSON lines in which the client reports what it got from a server.
enum AttributeReport {
    struct Descriptor: Encodable {
        let handle: UInt16
        let uuid: String
    }

    struct Characteristic: Encodable {
        let uuid: String
        let value_handle: UInt16
        let properties: UInt8
        var descriptors: [Descriptor]?
    }

    struct Service: Encodable {
        let uuid: String
        let primary: Bool
        let start: UInt16
        let end: UInt16
        var characteristics: [Characteristic]?
    }

    struct Ready: Encodable {
        let ready = true
        let services: [Service]
    }

    struct Result: Encodable {
        var att_error: UInt8 = 0
        var value: String?
        var services: [Service]?
        var characteristics: [Characteristic]?
        var descriptors: [Descriptor]?
    }

    struct Answer: Encodable {
        let result: Result
    }

    struct Notified: Encodable {
        struct Value: Encodable {
            let handle: UInt16
            let value: String
        }

        let notified: Value
    }
}

extension AttributeReport.Descriptor {
    init(_ descriptor: DiscoveredDescriptor) {
        self.init(handle: descriptor.handle.wire, uuid: descriptor.uuid.spelling)
    }
}

extension AttributeReport.Characteristic {
    init(_ characteristic: DiscoveredCharacteristic, _ descriptors: [DiscoveredDescriptor]? = nil) {
        self.init(
            uuid: characteristic.uuid.spelling,
            value_handle: characteristic.value.wire,
            properties: characteristic.properties,
            descriptors: descriptors?.map { .init($0) }
        )
    }
}

extension AttributeReport.Service {
    init(_ service: DiscoveredService, _ characteristics: [DatabaseDiscovery.Characteristic]? = nil) {
        self.init(
            uuid: service.uuid.spelling,
            primary: service.isPrimary,
            start: service.range.start.wire,
            end: service.range.end.wire,
            characteristics: characteristics?.map { .init($0.declared, $0.descriptors) }
        )
    }
}

extension AttributeReport.Result {
    init(_ outcome: Swift.Result<AttributeOperation.Outcome, Failure>) {
        self.init()
        switch outcome {
        case .failure(let failure): att_error = failure.errorCode.wire
        case .success(.done): break
        case .success(.value(let octets)): value = octets.hexadecimal
        case .success(.values(let entries)): value = entries.flatMap(\.value).hexadecimal
        case .success(.database(let all)): services = all.map { .init($0.declared, $0.characteristics) }
        case .success(.services(let found)): services = found.map { .init($0) }
        case .success(.characteristics(let found)): characteristics = found.map { .init($0) }
        case .success(.descriptors(let found)): descriptors = found.map { .init($0) }
        }
    }
}

extension Failure {
    /// The ATT error code that is closest to this failure.
    fileprivate var errorCode: ATT.ErrorCode {
        switch self {
        case .att(let code): code
        case .invalidResponse: .invalidPDU
        case .notFound: .attributeNotFound
        case .notSupported: .requestNotSupported
        case .hci, .channel, .peerMisbehaved, .timedOut, .encryptionTimedOut, .notConnected, .cancelled, .poweredOff,
            .invalidParameters, .uuidNotAllowed, .alreadyInProgress, .limitReached:
            .unlikelyError
        }
    }
}
