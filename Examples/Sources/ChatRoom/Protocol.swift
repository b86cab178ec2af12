import CoreBluetooth

let kServiceUUID = "8C6A0001-1B2C-4D3E-9F40-5A6B7C8D9E0F"
let kCharacteristicUUID = "8C6A0002-1B2C-4D3E-9F40-5A6B7C8D9E0F"
let kPeripheralName = "ChatRoom"
