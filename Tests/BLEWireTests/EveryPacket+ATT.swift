import BLEWire

extension EveryPacket {
    /// All but the three that have no fields: Write Response, Execute Write Response and Handle Value Confirmation.
    static let att: [any Packet.Type] = [
        ATT.ErrorResponse.self, ATT.ExchangeMTURequest.self, ATT.ExchangeMTUResponse.self,
        ATT.FindInformationRequest.self, ATT.FindInformationResponse.self,
        ATT.FindByTypeValueRequest.self, ATT.FindByTypeValueResponse.self,
        ATT.ReadByTypeRequest.self, ATT.ReadByTypeResponse.self,
        ATT.ReadByGroupTypeRequest.self, ATT.ReadByGroupTypeResponse.self,
        ATT.ReadRequest.self, ATT.ReadBlobRequest.self, ATT.ReadMultipleRequest.self,
        ATT.ReadMultipleVariableRequest.self, ATT.ReadMultipleVariableResponse.self,
        ATT.WriteRequest.self, ATT.WriteCommand.self, ATT.SignedWriteCommand.self,
        ATT.PrepareWriteRequest.self, ATT.PrepareWriteResponse.self, ATT.ExecuteWriteRequest.self,
        ATT.HandleValueNotification.self, ATT.HandleValueIndication.self,
        ATT.MultipleHandleValueNotification.self,
    ]

    /// Packets that are a value and nothing else, so that no octets at all are one too.
    static let attValues: [any Packet.Type] = [
        ATT.ReadResponse.self, ATT.ReadBlobResponse.self, ATT.ReadMultipleResponse.self,
    ]
}
