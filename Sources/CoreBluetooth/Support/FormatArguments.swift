public import Foundation

// On Apple's systems every NSObject may be an argument for `%@`. Here Foundation takes some of its own classes and
// whatever says by which of them it stands.

extension _CVarArgObject where Self: NSObject {
    /// The replacement of `%@`: the description.
    public var _cVarArgObject: any CVarArg { description as NSString }

    /// Asked of the replacement, not of the object.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension CBATTRequest: _CVarArgObject {}
extension CBAttribute: _CVarArgObject {}
extension CBChannelSoundingProcedureResults: _CVarArgObject {}
extension CBChannelSoundingSessionConfiguration: _CVarArgObject {}
extension CBL2CAPChannel: _CVarArgObject {}
extension CBManager: _CVarArgObject {}
extension CBPeer: _CVarArgObject {}
extension CBUUID: _CVarArgObject {}

// Two classes of Foundation besides, since a delegate is told of them: errors, cast to NSError, and RSSI.
extension NSError: @retroactive _CVarArgObject {}
extension NSNumber: @retroactive _CVarArgObject {}
