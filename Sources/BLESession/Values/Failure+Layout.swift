package import BLEHost
package import BLEWire

extension Failure: TaggedEnum, Packet {
    package init() { self = .att(ATT.ErrorCode(wire: 0)) }

    package var code: UInt8 {
        switch self {
        case .att: 1
        case .hci: 2
        case .channel: 3
        case .peerMisbehaved: 4
        case .timedOut: 5
        case .encryptionTimedOut: 6
        case .notConnected: 7
        case .cancelled: 8
        case .poweredOff: 9
        case .notFound: 10
        case .invalidParameters: 11
        case .notSupported: 12
        case .uuidNotAllowed: 13
        case .alreadyInProgress: 14
        case .limitReached: 15
        case .invalidResponse: 16
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .att(ATT.ErrorCode(wire: 0))
        case 2: self = .hci(.success)
        case 3: self = .channel(Signal.ConnectionResult(wire: 0))
        case 4: self = .peerMisbehaved
        case 5: self = .timedOut
        case 6: self = .encryptionTimedOut
        case 7: self = .notConnected
        case 8: self = .cancelled
        case 9: self = .poweredOff
        case 10: self = .notFound
        case 11: self = .invalidParameters
        case 12: self = .notSupported
        case 13: self = .uuidNotAllowed
        case 14: self = .alreadyInProgress
        case 15: self = .limitReached
        case 16: self = .invalidResponse
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .att(var error):
            try wire.field(&error, "Error Code")
            self = .att(error)
        case .hci(var status):
            try wire.field(&status, "Status")
            self = .hci(status)
        case .channel(var result):
            try wire.field(&result, "Result")
            self = .channel(result)
        case .peerMisbehaved, .timedOut, .encryptionTimedOut, .notConnected, .cancelled, .poweredOff, .notFound,
            .invalidParameters, .notSupported, .uuidNotAllowed, .alreadyInProgress, .limitReached, .invalidResponse:
            break
        }
    }
}
