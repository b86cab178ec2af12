package import BLEHost
package import BLEWire

extension ServerResponse: TaggedEnum {
    package var code: UInt8 {
        switch self {
        case .success: 1
        case .failure: 2
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .success([])
        case 2: self = .failure(ATT.ErrorCode(wire: 0))
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .success(var value):
            try wire.sized(&value, "Value")
            self = .success(value)
        case .failure(var error):
            try wire.field(&error, "Error Code")
            self = .failure(error)
        }
    }
}

/// A request about the local server: about the server itself, or about its services.
///
/// The codes of the two kinds do not overlap.
enum OwnServerRequest: TaggedEnum {
    case server(ServerRequest)
    case service(ServiceRequest)

    var code: UInt8 {
        switch self {
        case .server(let request): request.code
        case .service(let request): request.code
        }
    }

    init?(blank code: UInt8) {
        if let request = ServerRequest(blank: code) {
            self = .server(request)
        } else if let request = ServiceRequest(blank: code) {
            self = .service(request)
        } else {
            return nil
        }
    }

    mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .server(var request):
            try request.fields(&wire)
            self = .server(request)
        case .service(var request):
            try request.fields(&wire)
            self = .service(request)
        }
    }

    var request: ClientRequest {
        switch self {
        case .server(let request): .server(request)
        case .service(let request): .service(request)
        }
    }
}

extension ServerRequest: TaggedEnum {
    package var code: UInt8 {
        switch self {
        case .startAdvertising: 4
        case .stopAdvertising: 5
        case .setLatency: 8
        case .disconnect: 9
        case .publishChannel: 10
        case .unpublishChannel: 11
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 4: self = .startAdvertising(AdvertisingRequest())
        case 5: self = .stopAdvertising
        case 8: self = .setLatency(.blank, .low)
        case 9: self = .disconnect(.blank)
        case 10: self = .publishChannel(encryptionRequired: false)
        case 11: self = .unpublishChannel(.none)
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .stopAdvertising: break
        case .startAdvertising(let request):
            var whole: AdvertisingRequest? = request, addition = BroadcastAddition(request)
            try whole?.layout(&wire)
            try wire.tail(&addition)
            addition?.add(to: &whole)
            self = .startAdvertising(whole ?? request)
        case .setLatency(var central, var latency):
            try wire.field(&central, "Central")
            try wire.field(&latency, "Latency")
            self = .setLatency(central, latency)
        case .disconnect(var central):
            try wire.field(&central, "Central")
            self = .disconnect(central)
        case .publishChannel(var encryptionRequired):
            try wire.flag(&encryptionRequired, "Encryption Required")
            self = .publishChannel(encryptionRequired: encryptionRequired)
        case .unpublishChannel(var psm):
            try wire.field(&psm, "PSM")
            self = .unpublishChannel(psm)
        }
    }
}

extension ServiceRequest: TaggedEnum {
    package var code: UInt8 {
        switch self {
        case .addService: 1
        case .removeService: 2
        case .removeAllServices: 3
        case .respond: 6
        case .update: 7
        case .reportConfirmations: 12
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .addService(ServiceDefinition())
        case 2: self = .removeService(.blank)
        case 3: self = .removeAllServices
        case 6: self = .respond(.blank, .success([]))
        case 7: self = .update(.blank, [], to: nil)
        case 12: self = .reportConfirmations(of: .blank)
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .addService(var service):
            var addition = DescriptorAddition(service)
            try service.layout(&wire)
            try wire.tail(&addition)
            addition?.add(to: &service)
            self = .addService(service)
        case .removeService(var service):
            try wire.field(&service, "Attribute")
            self = .removeService(service)
        case .removeAllServices: break
        case .respond(var transaction, var response):
            try wire.field(&transaction, "Transaction")
            try response.layout(&wire)
            self = .respond(transaction, response)
        case .update(var attribute, var value, let centrals):
            try wire.field(&attribute, "Attribute")
            try wire.sized(&value, "Value")
            var list = centrals.map { PacketList($0.map(PeerReference.init)) }
            try wire.optional(&list, "Centrals")
            self = .update(attribute, value, to: list?.elements.map(\.peer))
        case .reportConfirmations(var attribute):
            try wire.field(&attribute, "Attribute")
            self = .reportConfirmations(of: attribute)
        }
    }
}
