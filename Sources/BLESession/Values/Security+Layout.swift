package import BLEHost
package import BLEWire

extension PairingPolicy: Packet {
    package init() { self.init(requiresSecureConnections: false) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        var size = UInt8(clamping: leastKeySize)
        try wire.flag(&requiresSecureConnections, "Requires Secure Connections")
        try wire.integer(&size, "Least Key Size")
        try wire.flag(&keepsBonds, "Keeps Bonds")
        self = Self(
            requiresSecureConnections: requiresSecureConnections,
            leastKeySize: Int(size),
            keepsBonds: keepsBonds,
            unattended: unattended
        )
    }
}

extension UnattendedPairing: WireField {
    package init?(wire: UInt8) { self.init(rawValue: wire) }

    package var wire: UInt8 { rawValue }
}

extension PairingStrength: Packet {
    package init() { self.init(keySize: 0, isAuthenticated: false, isSecureConnections: false) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        var size = UInt8(clamping: keySize)
        try wire.integer(&size, "Key Size")
        keySize = Int(size)
        try wire.flag(&isAuthenticated, "Authenticated")
        try wire.flag(&isSecureConnections, "Secure Connections")
    }
}

extension SecurityManager.OutOfBandData.DeviceData: Packet {
    package init() { self.init(confirm: .zero, random: .zero) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&confirm, "Confirm")
        try wire.field(&random, "Random")
    }
}

extension BondedPeer: Packet {
    package init() { self.init(peer: .blank, name: nil, identity: .none, strength: PairingStrength()) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        var peer = peer, name = name, identity = identity, strength = strength
        try wire.field(&peer, "Peer")
        try wire.text(&name, "Name")
        try identity.layout(&wire)
        try strength.layout(&wire)
        self = Self(peer: peer, name: name, identity: identity, strength: strength)
    }
}

extension PairingInquiry.Cause: WireField {
    package init?(wire: UInt8) {
        switch wire {
        case 1: self = .peer
        case 2: self = .refusal
        case 3: self = .request
        default: return nil
        }
    }

    package var wire: UInt8 {
        switch self {
        case .peer: 1
        case .refusal: 2
        case .request: 3
        }
    }
}

extension PairingInquiry: Packet {
    package init() { self.init(peer: .blank, name: nil, question: .enterPasskey, cause: .peer) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        var peer = peer, name = name, question = question, cause = cause
        try wire.field(&peer, "Peer")
        try wire.text(&name, "Name")
        try question.layout(&wire)
        try wire.field(&cause, "Cause")
        self = Self(peer: peer, name: name, question: question, cause: cause)
    }
}

extension PairingQuestion: TaggedEnum {
    package var code: UInt8 {
        switch self {
        case .consent: 1
        case .display: 2
        case .enterPasskey: 3
        case .compare: 4
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .consent(replacesBond: false)
        case 2: self = .display(passkey: 0)
        case 3: self = .enterPasskey
        case 4: self = .compare(0)
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .consent(var replacesBond):
            try wire.flag(&replacesBond, "Replaces Bond")
            self = .consent(replacesBond: replacesBond)
        case .display(var passkey):
            try wire.integer(&passkey, "Passkey")
            self = .display(passkey: passkey)
        case .enterPasskey: break
        case .compare(var number):
            try wire.integer(&number, "Number")
            self = .compare(number)
        }
    }
}

extension PairingReply: TaggedEnum {
    package var code: UInt8 {
        switch self {
        case .confirm: 1
        case .passkey: 2
        case .cancel: 3
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .confirm(false)
        case 2: self = .passkey(0)
        case 3: self = .cancel
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .confirm(var isRight):
            try wire.flag(&isRight, "Confirmed")
            self = .confirm(isRight)
        case .passkey(var passkey):
            try wire.integer(&passkey, "Passkey")
            self = .passkey(passkey)
        case .cancel: break
        }
    }
}

extension PairingMethod: WireField {
    package init?(wire: UInt8) {
        switch wire {
        case 1: self = .justWorks
        case 2: self = .passkeyEntry(.initiatorDisplays)
        case 3: self = .passkeyEntry(.responderDisplays)
        case 4: self = .passkeyEntry(.bothInput)
        case 5: self = .numericComparison
        case 6: self = .outOfBand
        default: return nil
        }
    }

    package var wire: UInt8 {
        switch self {
        case .justWorks: 1
        case .passkeyEntry(.initiatorDisplays): 2
        case .passkeyEntry(.responderDisplays): 3
        case .passkeyEntry(.bothInput): 4
        case .numericComparison: 5
        case .outOfBand: 6
        }
    }
}

extension PairingFailure: TaggedEnum {
    package var code: UInt8 {
        switch self {
        case .refused: 1
        case .refusedByPeer: 2
        case .timedOut: 3
        case .encryptionFailed: 4
        case .disconnected: 5
        case .tooSoon: 6
        case .cannotAuthenticate: 7
        case .noAgent: 8
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .refused(.unspecified)
        case 2: self = .refusedByPeer(.unspecified)
        case 3: self = .timedOut
        case 4: self = .encryptionFailed
        case 5: self = .disconnected
        case 6: self = .tooSoon(until: Instant())
        case 7: self = .cannotAuthenticate
        case 8: self = .noAgent
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .refused(var reason):
            try wire.field(&reason, "Reason")
            self = .refused(reason)
        case .refusedByPeer(var reason):
            try wire.field(&reason, "Reason")
            self = .refusedByPeer(reason)
        case .timedOut, .encryptionFailed, .disconnected, .cannotAuthenticate, .noAgent: break
        case .tooSoon(let until):
            var nanoseconds = UInt64(bitPattern: until.nanoseconds)
            try wire.integer(&nanoseconds, "Nanoseconds")
            self = .tooSoon(until: Instant(nanoseconds: Int64(bitPattern: nanoseconds)))
        }
    }
}
