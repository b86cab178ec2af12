import BLEWire

/// Which events a host wants to see.
///
/// Core 6.0, Vol 4, Part E, 7.3.1, 7.3.69 and 7.8.1.
struct EventMasks: Sendable {
    var page1 = EventMask.standard
    var page2 = EventMaskPage2.none
    var le = LEEventMask.standard

    /// Whether the host gets to see `event`.
    func allow(_ event: HCIEventPacket) -> Bool {
        if let subevent = event.subevent { return allow(subevent) }
        return allow(event.code)
    }

    /// Whether the host gets to see the event with `code`, which is none of LE.
    func allow(_ code: HCI.EventCode) -> Bool { code.wire >= 0x40 ? page2.allows(code) : page1.allows(code) }

    /// Whether the host gets to see the LE event `subevent`.
    func allow(_ subevent: HCI.LESubevent) -> Bool { page1.allows(.leMeta) && le.allows(subevent) }
}
