import BLEWire

/// The path of one packet on an advertising channel from its sender to one receiver.
struct RadioPath {
    let sender: Int
    let receiver: Int
    /// The mean strength of the packet at the receiver, in dBm.
    let strength: Int
    let channel: Int
    let instant: Instant
    var phy = AirPHY.oneMegabit
    /// True if the packet is lost regardless of ``Air/conditions``.
    var isDropped = false

    init(from sender: Int, to receiver: Int, strength: Int, channel: Int, at instant: Instant) {
        self.sender = sender
        self.receiver = receiver
        self.strength = strength
        self.channel = channel
        self.instant = instant
    }
}

extension Air {
    /// Sends a packet along a path, and decides whether it arrives.
    ///
    /// - Returns: The received signal strength in dBm; `nil` if the packet is lost.
    mutating func carry(_ pdu: @autoclosure () -> AdvertisingPDU, _ leg: RadioPath) -> Int? {
        let strength = leg.strength + path.noise()
        let isLost = strength < PathLoss.sensitivity || path.random.happens(path.loss) || leg.isDropped
        if path.records != nil {
            let reception = AirRecord.Reception(
                receiver: ControllerID(rawValue: leg.receiver),
                strength: strength,
                isLost: isLost
            )
            record(pdu(), from: leg.sender, channel: leg.channel, leg.phy, at: leg.instant, [reception])
        }
        return isLost ? nil : strength
    }

    /// Records a packet on an advertising channel if ``recordsAir`` is true.
    mutating func record(
        _ pdu: AdvertisingPDU,
        from sender: Int,
        channel: Int,
        _ phy: AirPHY,
        at instant: Instant,
        _ receptions: [AirRecord.Reception]
    ) {
        path.records?.append(
            AirRecord(
                instant: instant,
                sender: ControllerID(rawValue: sender),
                channel: UInt8(truncatingIfNeeded: channel),
                phy: phy,
                accessAddress: LL.advertisingAccessAddress,
                pdu: pdu.encoded,
                receptions: receptions
            )
        )
    }
}
