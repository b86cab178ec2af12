import BLEWire

extension EveryPacket {
    static let management: [any Packet.Type] = [
        Management.IndexList.self, Management.ExtendedIndexList.self, Management.ControllerEntry.self,
        Management.Information.self, Management.SetPowered.self, Management.CommandComplete.self,
        Management.CommandStatus.self, Management.NewSettings.self, Management.Attachment.self,
    ]
}
