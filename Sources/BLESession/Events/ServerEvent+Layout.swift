package import BLEHost
package import BLEWire

extension ServerEvent: TaggedEnum {
    package var code: UInt8 {
        switch self {
        case .serviceAdded: 1
        case .advertisingStarted: 2
        case .subscribed: 3
        case .unsubscribed: 4
        case .readRequested: 5
        case .writeRequested: 6
        case .updatesTaken: 7
        case .centralChanged: 8
        case .centralsConnected: 9
        case .channelPublished: 10
        case .channelUnpublished: 11
        case .channelOpened: 12
        case .confirmed: 13
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .serviceAdded(.blank, nil)
        case 2: self = .advertisingStarted(nil)
        case 3: self = .subscribed(RemoteCentral(), to: .blank)
        case 4: self = .unsubscribed(RemoteCentral(), from: .blank)
        case 5: self = .readRequested(.blank, RemoteCentral(), .blank, offset: 0)
        case 6: self = .writeRequested(nil, RemoteCentral(), [])
        case 7: self = .updatesTaken(0)
        case 8: self = .centralChanged(RemoteCentral())
        case 9: self = .centralsConnected([])
        case 10: self = .channelPublished(.none, nil)
        case 11: self = .channelUnpublished(.none, nil)
        case 12: self = .channelOpened(OpenedChannel(), by: RemoteCentral())
        case 13: self = .confirmed(RemoteCentral(), of: .blank)
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .serviceAdded(var service, var failure):
            try wire.field(&service, "Attribute")
            try wire.optional(&failure, "Failure")
            self = .serviceAdded(service, failure)
        case .advertisingStarted(var failure):
            try wire.optional(&failure, "Failure")
            self = .advertisingStarted(failure)
        case .subscribed(var central, var attribute):
            try central.layout(&wire)
            try wire.field(&attribute, "Attribute")
            self = .subscribed(central, to: attribute)
        case .unsubscribed(var central, var attribute):
            try central.layout(&wire)
            try wire.field(&attribute, "Attribute")
            self = .unsubscribed(central, from: attribute)
        case .readRequested(var transaction, var central, var attribute, var offset):
            try wire.field(&transaction, "Transaction")
            try central.layout(&wire)
            try wire.field(&attribute, "Attribute")
            try wire.count(&offset, "Offset")
            self = .readRequested(transaction, central, attribute, offset: offset)
        case .writeRequested(var transaction, var central, let group):
            var parts = [WritePart](group)
            try wire.optional(&transaction, blank: .blank, "Transaction")
            try central.layout(&wire)
            try wire.sequence(&parts, "Part")
            self = .writeRequested(transaction, central, WriteGroup(parts))
        case .updatesTaken(var count):
            try wire.count(&count, "Count")
            self = .updatesTaken(count)
        case .confirmed(var central, var attribute):
            try central.layout(&wire)
            try wire.field(&attribute, "Attribute")
            self = .confirmed(central, of: attribute)
        case .centralChanged(var central):
            try central.layout(&wire)
            self = .centralChanged(central)
        case .centralsConnected(var centrals):
            try wire.sequence(&centrals, "Central")
            self = .centralsConnected(centrals)
        case .channelPublished, .channelUnpublished, .channelOpened: try channelFields(&wire)
        }
    }

    private mutating func channelFields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .channelPublished(var psm, var failure):
            try wire.field(&psm, "PSM")
            try wire.optional(&failure, "Failure")
            self = .channelPublished(psm, failure)
        case .channelUnpublished(var psm, var failure):
            try wire.field(&psm, "PSM")
            try wire.optional(&failure, "Failure")
            self = .channelUnpublished(psm, failure)
        case .channelOpened(var channel, var central):
            try channel.layout(&wire)
            try central.layout(&wire)
            self = .channelOpened(channel, by: central)
        default: preconditionFailure("the event must be about a channel")
        }
    }
}
