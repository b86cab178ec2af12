package import BLEHost
package import BLEWire

extension PeerEvent: TaggedEnum, Packet {
    package init() { self = .writeCommandsTaken(0) }

    package var code: UInt8 {
        switch self {
        case .mtuChanged: 1
        case .nameChanged: 2
        case .linkChanged: 3
        case .tuned: 4
        case .rssiRead: 5
        case .servicesDiscovered: 6
        case .includedServicesDiscovered: 7
        case .characteristicsDiscovered: 8
        case .descriptorsDiscovered: 9
        case .valueRead: 10
        case .valueWritten: 11
        case .writeCommandsTaken: 12
        case .subscriptionChanged: 13
        case .valueNotified: 14
        case .servicesModified: 15
        case .databaseForgotten: 16
        case .channelOpened: 17
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .mtuChanged(0)
        case 2: self = .nameChanged("")
        case 3: self = .linkChanged(LinkDetails())
        case 4: self = .tuned(.dataLength(octets: 0), nil)
        case 5: self = .rssiRead(.success(.unavailable))
        case 6: self = .servicesDiscovered(.success([]))
        case 7: self = .includedServicesDiscovered(in: .all, .success([]))
        case 8: self = .characteristicsDiscovered(in: .all, .success([]))
        case 9: self = .descriptorsDiscovered(of: .none, .success([]))
        case 10: self = .valueRead(.none, .success([]))
        case 11: self = .valueWritten(.none, nil)
        case 12: self = .writeCommandsTaken(0)
        case 13: self = .subscriptionChanged(.none, .none, nil)
        case 14: self = .valueNotified(.none, [])
        case 15: self = .servicesModified(.all)
        case 16: self = .databaseForgotten(nil)
        case 17: self = .channelOpened(.none, .success(OpenedChannel()))
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .mtuChanged(var mtu):
            try wire.count(&mtu, "MTU")
            self = .mtuChanged(mtu)
        case .nameChanged(var name):
            try wire.text(&name, "Name")
            self = .nameChanged(name)
        case .linkChanged(var details):
            try details.layout(&wire)
            self = .linkChanged(details)
        case .tuned(var tuning, var failure):
            try tuning.layout(&wire)
            try wire.optional(&failure, "Failure")
            self = .tuned(tuning, failure)
        case .rssiRead(let result):
            var strength = result.map(SignalStrength.init)
            try wire.result(&strength, "RSSI")
            self = .rssiRead(strength.map(\.rssi))
        case .writeCommandsTaken(var count):
            try wire.count(&count, "Count")
            self = .writeCommandsTaken(count)
        case .servicesModified(var range):
            try range.layout(&wire)
            self = .servicesModified(range)
        case .databaseForgotten(var failure):
            try wire.optional(&failure, "Failure")
            self = .databaseForgotten(failure)
        case .channelOpened(var psm, var result):
            try wire.field(&psm, "PSM")
            try wire.result(&result, "Channel")
            self = .channelOpened(psm, result)
        case .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered:
            try discoveryFields(&wire)
        case .valueRead, .valueWritten, .subscriptionChanged, .valueNotified: try valueFields(&wire)
        }
    }

    private mutating func discoveryFields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .servicesDiscovered(var found):
            try wire.results(&found, "Service")
            self = .servicesDiscovered(found)
        case .includedServicesDiscovered(var range, var found):
            try range.layout(&wire)
            try wire.results(&found, "Service")
            self = .includedServicesDiscovered(in: range, found)
        case .characteristicsDiscovered(var range, var found):
            try range.layout(&wire)
            try wire.results(&found, "Characteristic")
            self = .characteristicsDiscovered(in: range, found)
        case .descriptorsDiscovered(var handle, var found):
            try wire.field(&handle, "Value Handle")
            try wire.results(&found, "Descriptor")
            self = .descriptorsDiscovered(of: handle, found)
        default: preconditionFailure("the event must be about a discovery")
        }
    }

    private mutating func valueFields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .valueRead(var handle, let result):
            try wire.field(&handle, "Handle")
            var value = result.map(Octets.init)
            try wire.result(&value, "Value")
            self = .valueRead(handle, value.map(\.octets))
        case .valueWritten(var handle, var failure):
            try wire.field(&handle, "Handle")
            try wire.optional(&failure, "Failure")
            self = .valueWritten(handle, failure)
        case .subscriptionChanged(var handle, var subscription, var failure):
            try wire.field(&handle, "Value Handle")
            try wire.field(&subscription, "Subscription")
            try wire.optional(&failure, "Failure")
            self = .subscriptionChanged(handle, subscription, failure)
        case .valueNotified(var handle, var value):
            try wire.field(&handle, "Handle")
            try wire.sized(&value, "Value")
            self = .valueNotified(handle, value)
        default: preconditionFailure("the event must be about a value")
        }
    }
}

/// A packet that contains a signal strength.
private struct SignalStrength: Packet {
    var rssi: RSSI
    init(_ rssi: RSSI) { self.rssi = rssi }
    init() { rssi = .unavailable }
    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) { try wire.field(&rssi, "RSSI") }
}
