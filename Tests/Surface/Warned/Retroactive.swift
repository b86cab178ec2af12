@preconcurrency import CoreBluetooth

// Promises that apps for Apple's systems make, where the classes come from Objective-C; here they are kept already.
extension CBManager: @unchecked @retroactive Sendable {}
extension CBPeer: @unchecked @retroactive Sendable {}
extension CBAttribute: @unchecked @retroactive Sendable {}
extension CBUUID: @unchecked @retroactive Sendable {}
extension CBL2CAPChannel: @unchecked @retroactive Sendable {}
extension CBATTRequest: @unchecked @retroactive Sendable {}
