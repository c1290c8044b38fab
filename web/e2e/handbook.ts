// What the tasks are walked with: the handbook of a shop, in the reader's language.
import type { Language } from './fixture'

interface Chunk { id: string; document_id: string; document_name: string; title: string; content: string; ordinal: number }

const said = {
  en: [
    ['returns', 'Returns', 'Returns > How long', 'You may return what you bought within 30 days. The refund goes back to the card that paid, three working days after the parcel has arrived.'],
    ['returns', 'Returns', 'Returns > What is excluded', 'Opened cosmetics, earphones and gift cards cannot be returned. Faulty ones are exchanged.'],
    ['returns', 'Returns', 'Returns > Without a receipt', 'Without a receipt we look the purchase up by the card. Nothing is paid out in cash.'],
    ['delivery', 'Delivery', 'Delivery > Cost', 'Delivery costs 4.90 and is free from 50 on. Furniture is brought by a carrier for 29.'],
    ['delivery', 'Delivery', 'Delivery > Time', 'Parcels leave the warehouse on the day of the order when it comes before 2 p.m., and take two days.'],
    ['delivery', 'Delivery', 'Delivery > Abroad', 'We send to all countries of the European Union. Duties are paid by the recipient elsewhere.'],
    ['payment', 'Payment', 'Payment > Methods', 'Card, bank transfer, invoice for companies. The card is charged when the parcel leaves.'],
    ['payment', 'Payment', 'Payment > Vouchers', 'A voucher is valid for three years and may be used in parts. It cannot be combined with a sale.'],
    ['visit', 'Visiting', 'Visiting > Opening hours', 'The shop is open from Monday to Saturday, 10 to 19. On the four Sundays of Advent from 13 on.'],
    ['visit', 'Visiting', 'Visiting > Access', 'A ramp is at the side entrance in Mill Lane, and the lift goes to all floors.'],
  ],
  zh: [
    ['退货', '退货', '退货 > 期限', '购买后 30 天内可以退货。包裹寄回三个工作日后，退款回到付款的银行卡。'],
    ['退货', '退货', '退货 > 不能退的商品', '已开封的化妆品、耳机和礼品卡不能退货，有质量问题的可以更换。'],
    ['退货', '退货', '退货 > 没有收据', '没有收据时，我们按银行卡查找购买记录，不退现金。'],
    ['配送', '配送', '配送 > 运费', '运费 4.90 元，满 50 元免运费。家具由承运公司送货，运费 29 元。'],
    ['配送', '配送', '配送 > 时间', '下午两点前的订单当天出库，包裹两天送到。'],
    ['配送', '配送', '配送 > 国外', '我们寄往欧盟各国。寄往其他国家时，关税由收件人支付。'],
    ['付款', '付款', '付款 > 方式', '可以用银行卡、转账付款，公司可以开发票。包裹出库时才扣款。'],
    ['付款', '付款', '付款 > 代金券', '代金券三年有效，可以分次使用，不能与促销同时使用。'],
    ['到店', '到店', '到店 > 营业时间', '周一到周六 10 点到 19 点营业，圣诞节前的四个周日 13 点开门。'],
    ['到店', '到店', '到店 > 无障碍', '磨坊巷的侧门有坡道，电梯到各个楼层。'],
  ],
} satisfies Record<Language, [string, string, string, string][]>

export const nameOf = { en: 'Shop handbook', zh: '商店手册' }

export const handbook = (language: Language): Chunk[] => said[language].map(([document, name, title, content], i) => ({
  id: `c${i}`, document_id: document, document_name: `${name}.md`, title, content, ordinal: i,
}))

/** Questions of the shop's visitors, and the chunk that answers each. */
export const questions: Record<Language, [question: string, chunk: string][]> = {
  en: [
    ['how long may I return something', 'c0'], ['are earphones returned', 'c1'], ['I have no receipt', 'c2'], ['what does delivery cost', 'c3'],
    ['when do parcels leave the warehouse', 'c4'], ['who pays duties', 'c5'], ['invoice for companies', 'c6'], ['is a voucher valid for years', 'c7'],
    ['open on Sundays of Advent', 'c8'], ['is there a lift to all floors', 'c9'],
  ],
  zh: [
    ['多少天内可以退货', 'c0'], ['耳机能退货吗', 'c1'], ['没有收据怎么办', 'c2'], ['运费多少元', 'c3'],
    ['包裹什么时候出库', 'c4'], ['关税由谁支付', 'c5'], ['公司可以开发票吗', 'c6'], ['代金券几年有效', 'c7'],
    ['圣诞节前的周日开门吗', 'c8'], ['电梯到各个楼层吗', 'c9'],
  ],
}
