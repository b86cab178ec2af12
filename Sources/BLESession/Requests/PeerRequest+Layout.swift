package import BLEHost
package import BLEWire

extension PeerRequest: TaggedEnum {
    package var code: UInt8 {
        switch self {
        case .attribute(let request): request.code
        case .link(let request): request.code
        case .openChannel: 12
        }
    }

    package init?(blank code: UInt8) {
        if let request = LinkRequest(blank: code) {
            self = .link(request)
        } else if let request = AttributeRequest(blank: code) {
            self = .attribute(request)
        } else if code == 12 {
            self = .openChannel(.none)
        } else {
            return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .attribute(var request):
            try request.fields(&wire)
            self = .attribute(request)
        case .link(var request):
            try request.fields(&wire)
            self = .link(request)
        case .openChannel(var psm):
            try wire.field(&psm, "PSM")
            self = .openChannel(psm)
        }
    }
}

// The codes of link requests, of attribute requests and of `openChannel` must not overlap.

extension LinkRequest: TaggedEnum {
    package var code: UInt8 {
        switch self {
        case .readRSSI: 1
        case .tune: 2
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .readRSSI
        case 2: self = .tune(.dataLength(octets: 0))
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .readRSSI: break
        case .tune(var tuning):
            try tuning.layout(&wire)
            self = .tune(tuning)
        }
    }
}

extension AttributeRequest: TaggedEnum {
    package var code: UInt8 {
        switch self {
        case .discoverServices: 3
        case .discoverIncludedServices: 4
        case .discoverCharacteristics: 5
        case .discoverDescriptors: 6
        case .read: 7
        case .write: 8
        case .writeCommand: 9
        case .subscribe: 10
        case .forgetDatabase: 11
        case .writePart: 13
        case .readWithoutPairing: 14
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 3: self = .discoverServices(only: [])
        case 4: self = .discoverIncludedServices(in: .all, only: [])
        case 5: self = .discoverCharacteristics(in: .all, only: [])
        case 6: self = .discoverDescriptors(of: .none, in: nil)
        case 7: self = .read(.none)
        case 8: self = .write(.none, [])
        case 9: self = .writeCommand(.none, [])
        case 10: self = .subscribe(.none, to: .none, in: nil)
        case 11: self = .forgetDatabase
        case 13: self = .writePart(.none, [], offset: 0)
        case 14: self = .readWithoutPairing(.none)
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .forgetDatabase: break
        case .discoverServices(var wanted):
            try wire.sequence(&wanted, "Service")
            self = .discoverServices(only: wanted)
        case .discoverIncludedServices(var range, var wanted):
            try range.layout(&wire)
            try wire.sequence(&wanted, "Service")
            self = .discoverIncludedServices(in: range, only: wanted)
        case .discoverCharacteristics(var range, var wanted):
            try range.layout(&wire)
            try wire.sequence(&wanted, "Characteristic")
            self = .discoverCharacteristics(in: range, only: wanted)
        case .discoverDescriptors(var handle, var range):
            try wire.field(&handle, "Value Handle")
            try wire.optional(&range, "Range")
            self = .discoverDescriptors(of: handle, in: range)
        case .read(var handle):
            try wire.field(&handle, "Handle")
            self = .read(handle)
        case .readWithoutPairing(var handle):
            try wire.field(&handle, "Handle")
            self = .readWithoutPairing(handle)
        case .write(var handle, var value):
            try wire.field(&handle, "Handle")
            try wire.sized(&value, "Value")
            self = .write(handle, value)
        case .writePart(var handle, var part, var offset):
            try wire.field(&handle, "Handle")
            try wire.integer(&offset, "Offset")
            try wire.sized(&part, "Part")
            self = .writePart(handle, part, offset: offset)
        case .writeCommand(var handle, var value):
            try wire.field(&handle, "Handle")
            try wire.sized(&value, "Value")
            self = .writeCommand(handle, value)
        case .subscribe(var subscription, var handle, var range):
            try wire.field(&subscription, "Subscription")
            try wire.field(&handle, "Value Handle")
            try wire.optional(&range, "Range")
            self = .subscribe(subscription, to: handle, in: range)
        }
    }
}
