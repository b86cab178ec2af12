/// The set of events with codes below 0x40 that a controller may send.
///
/// Core 6.0, Vol 4, Part E, 7.3.1.
package struct EventMask: WireField, Hashable {
    package let wire: UInt64
    package init(wire: UInt64) { self.wire = wire }

    /// The default mask: all events of Core 1.1.
    package static let standard = Self(wire: 0x0000_1FFF_FFFF_FFFF)

    /// Returns whether the controller may send an event.
    ///
    /// Events that respond to commands or return credits cannot be disabled.
    package func allows(_ code: HCI.EventCode) -> Bool {
        switch code {
        case .commandComplete, .commandStatus, .numberOfCompletedPackets: true
        default: 0x01...0x3E ~= code.wire && wire >> UInt64(code.wire - 1) & 1 == 1
        }
    }
}

extension EventMask: ExpressibleByArrayLiteral {
    /// Creates a mask that enables the given events; codes without a bit in the mask are ignored.
    package init(arrayLiteral codes: HCI.EventCode...) {
        wire = codes.reduce(0) { 0x01...0x3E ~= $1.wire ? $0 | 1 << UInt64($1.wire - 1) : $0 }
    }
}

/// The set of events with codes of 0x40 and above that a controller may send.
///
/// Core 6.0, Vol 4, Part E, 7.3.69.
package struct EventMaskPage2: WireField, Hashable {
    package let wire: UInt64
    package init(wire: UInt64) { self.wire = wire }

    /// The default mask: no events.
    package static let none = Self(wire: 0)

    /// Returns whether the controller may send an event.
    package func allows(_ code: HCI.EventCode) -> Bool {
        0x40...0x7F ~= code.wire && wire >> UInt64(code.wire - 0x40) & 1 == 1
    }
}

extension EventMaskPage2: ExpressibleByArrayLiteral {
    /// Creates a mask that enables the given events; codes without a bit in the mask are ignored.
    package init(arrayLiteral codes: HCI.EventCode...) {
        wire = codes.reduce(0) { 0x40...0x7F ~= $1.wire ? $0 | 1 << UInt64($1.wire - 0x40) : $0 }
    }
}

/// The set of LE events that a controller may send if ``EventMask`` enables LE Meta events.
///
/// Core 6.0, Vol 4, Part E, 7.8.1.
package struct LEEventMask: WireField, Hashable {
    package let wire: UInt64
    package init(wire: UInt64) { self.wire = wire }

    /// The default mask: all LE events of Core 4.0.
    package static let standard = Self(wire: 0x1F)

    /// Returns whether the controller may send an event.
    package func allows(_ subevent: HCI.LESubevent) -> Bool {
        0x01...0x40 ~= subevent.wire && wire >> UInt64(subevent.wire - 1) & 1 == 1
    }
}

extension LEEventMask: ExpressibleByArrayLiteral {
    /// Creates a mask that enables the given events; codes without a bit in the mask are ignored.
    package init(arrayLiteral subevents: HCI.LESubevent...) {
        wire = subevents.reduce(0) { 0x01...0x40 ~= $1.wire ? $0 | 1 << UInt64($1.wire - 1) : $0 }
    }
}
