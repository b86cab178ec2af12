import BLEWire

extension EveryPacket {
    static let l2cap: [any Packet.Type] = [
        L2CAPHeader.self, Signal.CommandReject.self, Signal.DisconnectionRequest.self,
        Signal.DisconnectionResponse.self, Signal.ConnectionParameterUpdateRequest.self,
        Signal.ConnectionParameterUpdateResponse.self, Signal.LECreditBasedConnectionRequest.self,
        Signal.LECreditBasedConnectionResponse.self, Signal.FlowControlCredit.self,
        Signal.CreditBasedConnectionRequest.self, Signal.CreditBasedConnectionResponse.self,
        Signal.CreditBasedReconfigureRequest.self, Signal.CreditBasedReconfigureResponse.self,
    ]
}
